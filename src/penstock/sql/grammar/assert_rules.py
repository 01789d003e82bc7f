"""The grammar of what tests assert."""

RULES = r"""
?assert_statement: assert_values | assert_tombstone | assert_source

assert_values: "ASSERT"i "VALUES"i source_name names? "VALUES"i row
assert_tombstone: "ASSERT"i "NULL"i "VALUES"i source_name names? "KEY"i row
assert_source: "ASSERT"i source_kind source_name columns? with_clause?
"""
