"""The whole grammar. Its keywords are reserved only where the grammar expects them."""

from penstock.sql.grammar import connector_rules, query_rules, source_rules

STATEMENT = """
?start: connector_statement | session_statement | source_statement | query_statement
"""
GRAMMAR = "\n".join((STATEMENT, connector_rules.RULES, source_rules.RULES, query_rules.RULES))
