"""The cases: every transform and predicate, on structs, schemaless values, nulls and mixtures."""

from __future__ import annotations

from transform_differential.cases import Case
from transform_differential.cast_cases import casts
from transform_differential.field_cases import fields, flattenings
from transform_differential.header_cases import headers
from transform_differential.insertion_cases import insertions, masks
from transform_differential.moment_cases import moments, routes
from transform_differential.predicate_cases import predicated


def catalogue() -> list[Case]:
    """All cases, each under a name of its own."""
    kinds = (casts, fields, insertions, masks, flattenings, headers, moments, routes, predicated)
    return list({case.name: case for kind in kinds for case in kind()}.values())
