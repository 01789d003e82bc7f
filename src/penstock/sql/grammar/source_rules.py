"""The grammar of streams, tables and types."""

# ruff: noqa: E501 - to lark, the end of a line is the end of a rule

RULES = r"""
?source_statement: create_source | create_from_connector | drop_source | add_columns | show
    | describe | describe_all | create_type | drop_type

create_source: "CREATE"i or_replace? read_only? source_kind if_not_exists? source_name columns? with_clause
create_from_connector: "CREATE"i or_replace? source_kind if_not_exists? source_name columns? "FROM"i "SOURCE"i "CONNECTOR"i connector_name with_clause?
or_replace: "OR"i "REPLACE"i
read_only: "SOURCE"i
!source_kind: "STREAM"i | "TABLE"i
columns: "(" column_def ("," column_def)* ")"
column_def: name type column_role?
!column_role: "KEY"i | "PRIMARY"i "KEY"i | "HEADERS"i | "HEADER"i "(" STRING ")"

type: name -> simple_type
    | name "(" INTEGER ("," INTEGER)? ")" -> sized_type
    | name "<" type ("," type)* ">" -> holding_type
    | name "<" struct_field ("," struct_field)* ">" -> struct_type
struct_field: name type

drop_source: "DROP"i source_kind if_exists? source_name delete_topic?
delete_topic: "DELETE"i "TOPIC"i
add_columns: "ALTER"i source_kind source_name "ADD"i "COLUMN"i? column_def ("," "ADD"i "COLUMN"i? column_def)*

show: _SHOW every? shown extended?
every: "ALL"i
extended: "EXTENDED"i
!shown: "STREAMS"i | "TABLES"i | "TOPICS"i | "QUERIES"i | "PROPERTIES"i | "FUNCTIONS"i | "TYPES"i | "VARIABLES"i
describe: _DESCRIBE connector_name extended?
describe_all: _DESCRIBE described extended?
!described: "STREAMS"i | "TABLES"i

create_type: "CREATE"i "TYPE"i if_not_exists? name "AS"i type
drop_type: "DROP"i "TYPE"i if_exists? name
"""
