"""SQL: connectors, streams and tables from one prompt.

``SqlSession`` (`penstock.sql.running.session`) runs a script; `penstock.sql.grammar.parser` only
parses one. Nothing here is imported before a statement is run: lark and Spark take their time.
"""
