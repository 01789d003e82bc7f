"""Which statements change something, and which only look."""

from __future__ import annotations

from penstock.sql.statements import asserts as aa
from penstock.sql.statements import connectors as co
from penstock.sql.statements import queries as qu
from penstock.sql.statements import settings as se
from penstock.sql.statements import sources as so
from penstock.sql.statements.statement import Statement

LOOKS = (
    aa.AssertValues,
    aa.AssertSource,
    co.ShowConnectors,
    co.DescribeConnector,
    co.ShowPlugins,
    co.ShowOffsets,
    so.Show,
    so.Describe,
    so.DescribeAll,
    qu.Select,
    qu.Explain,
    qu.PrintTopic,
    se.SetProperty,
    se.UnsetProperty,
    se.Define,
    se.Undefine,
)
SILENT = (qu.InsertValues, se.SetProperty, se.UnsetProperty, se.Define, se.Undefine)
"""Those that ksqlDB's API says nothing about once they are done."""


def only_looks(statement: Statement) -> bool:
    """Whether nothing outside of the session is changed by it."""
    return isinstance(statement, LOOKS)
