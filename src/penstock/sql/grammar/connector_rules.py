"""The grammar of statements about connectors, the session, and lists."""

# ruff: noqa: E501 - to lark, the end of a line is the end of a rule

RULES = r"""
?connector_statement: create_connector | create_external | show_connectors | show_external
    | describe_connector | drop_connector | drop_external | alter_connector | change_connector
    | show_plugins | show_offsets | alter_offsets | reset_offsets

create_connector: "CREATE"i kind "CONNECTOR"i if_not_exists? connector_name with_clause
create_external: "CREATE"i "EXTERNAL"i kind connector_name from_source? with_clause
from_source: "FROM"i connector_name
!kind: "SOURCE"i | "SINK"i
show_connectors: _SHOW kind? "CONNECTORS"i
show_external: _SHOW "EXTERNAL"i external_kind
!external_kind: "SOURCES"i | "SINKS"i
describe_connector: _DESCRIBE "CONNECTOR"i connector_name
drop_connector: "DROP"i "CONNECTOR"i if_exists? connector_name
drop_external: "DROP"i "EXTERNAL"i kind connector_name terminate?
terminate: "TERMINATE"i
alter_connector: "ALTER"i "CONNECTOR"i connector_name ("SET"i | "WITH"i) "(" property ("," property)* ")"
    | "ALTER"i "CONNECTOR"i connector_name "UNSET"i "(" key ("," key)* ")" -> alter_unset
change_connector: change_verb "CONNECTOR"i connector_name restart_option*
!change_verb: "PAUSE"i | "RESUME"i | "STOP"i | "RESTART"i
restart_option: "INCLUDE"i "TASKS"i -> include_tasks
    | "ONLY"i "FAILED"i -> only_failed
show_plugins: _SHOW "CONNECTOR"i "PLUGINS"i
show_offsets: _SHOW "CONNECTOR"i "OFFSETS"i connector_name
alter_offsets: "ALTER"i "CONNECTOR"i connector_name "OFFSETS"i offset ("," offset)*
offset: "PARTITION"i STRING "TO"i (STRING | "NULL"i)
reset_offsets: "RESET"i "CONNECTOR"i "OFFSETS"i connector_name

with_clause: "WITH"i "(" (property ("," property)*)? ")"
property: key "=" value
key: KEY | STRING | QUOTED | BACKQUOTED
value: STRING | QUOTED | BARE
if_not_exists: "IF"i "NOT"i "EXISTS"i
if_exists: "IF"i "EXISTS"i

?session_statement: set | unset | define | undefine | run_script
set: "SET"i STRING "=" STRING
unset: "UNSET"i STRING
define: "DEFINE"i NAME "=" STRING
undefine: "UNDEFINE"i NAME
run_script: "RUN"i "SCRIPT"i STRING

connector_name: DASHED | NAME | QUOTED | BACKQUOTED | VARIABLE | STRING
"""
