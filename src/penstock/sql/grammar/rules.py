"""The whole grammar. Its keywords are reserved only where the grammar expects them."""

from penstock.sql.grammar import assert_rules, connector_rules, query_rules, source_rules

STATEMENT = """
?start: connector_statement | session_statement | source_statement | query_statement
    | assert_statement
"""
PARTS = (connector_rules, source_rules, query_rules, assert_rules)
GRAMMAR = "\n".join((STATEMENT, *(part.RULES for part in PARTS)))
