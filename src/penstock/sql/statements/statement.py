"""Any statement."""

from penstock.sql.statements.asserts import AssertStatement
from penstock.sql.statements.connectors import ConnectorStatement
from penstock.sql.statements.queries import QueryStatement
from penstock.sql.statements.settings import SessionStatement
from penstock.sql.statements.sources import SourceStatement

Statement = (
    ConnectorStatement | SourceStatement | QueryStatement | SessionStatement | AssertStatement
)
