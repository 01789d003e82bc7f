"""The grammar of queries and expressions, and the terminals of all statements.

The clauses of a query are a chain of rules: of a list of optional ones, lark would write out each
combination.
"""

RULES = r"""
?query_statement: query -> select
    | create_as | insert_select | insert_values | explain | print_topic | change_query

create_as: "CREATE"i or_replace? source_kind if_not_exists? source_name with_clause? "AS"i query
insert_select: "INSERT"i "INTO"i source_name with_clause? query
insert_values: "INSERT"i "INTO"i source_name names? "VALUES"i row ("," row)*
names: "(" name ("," name)* ")"
row: "(" expression ("," expression)* ")"
explain: "EXPLAIN"i query
    | "EXPLAIN"i create_as -> explain_persistent
    | "EXPLAIN"i insert_select -> explain_persistent
    | "EXPLAIN"i connector_name -> explain_id
print_topic: "PRINT"i connector_name print_option*
print_option: "FROM"i "BEGINNING"i -> from_beginning
    | ("INTERVAL"i | "SAMPLE"i) INTEGER -> interval
    | "LIMIT"i INTEGER -> print_limit
change_query: query_verb connector_name | query_verb every
!query_verb: "TERMINATE"i | "PAUSE"i | "RESUME"i

query: "SELECT"i distinct? item ("," item)* "FROM"i relation join* _windowed
_windowed: window? _filtered
_filtered: where? _grouped
_grouped: group_by? _partitioned
_partitioned: partition_by? _having
_having: having? _ordered
_ordered: order_by? _emitting
_emitting: emit? limit?
distinct: "DISTINCT"i
item: expression ("AS"i? name)?
    | "*" -> every_column
    | name "." "*" -> every_column_of
relation: source_name ("AS"i? name)?
    | "(" query ")" ("AS"i? name)? -> derived
join: join_kind? "JOIN"i relation within? "ON"i expression
!join_kind: "INNER"i | "LEFT"i "OUTER"i? | "RIGHT"i "OUTER"i? | "FULL"i "OUTER"i?
within: "WITHIN"i duration grace?
    | "WITHIN"i "(" duration "," duration ")" grace? -> within_both
grace: "GRACE"i "PERIOD"i duration
duration: INTEGER NAME
window: "WINDOW"i window_kind "(" window_size ("," window_size)* ")"
!window_kind: "TUMBLING"i | "HOPPING"i | "SESSION"i
!window_size: "SIZE"i duration | "ADVANCE"i "BY"i duration | "RETENTION"i duration
    | "GRACE"i "PERIOD"i duration | duration
where: "WHERE"i expression
group_by: "GROUP"i "BY"i expression ("," expression)*
partition_by: "PARTITION"i "BY"i expression ("," expression)*
having: "HAVING"i expression
order_by: "ORDER"i "BY"i ordering ("," ordering)*
ordering: expression direction?
!direction: "ASC"i | "DESC"i
emit: "EMIT"i emitted
!emitted: "CHANGES"i | "FINAL"i
limit: "LIMIT"i INTEGER

?expression: conjunction | expression "OR"i conjunction -> or_
?conjunction: negation | conjunction "AND"i negation -> and_
?negation: predicate | "NOT"i negation -> not_
?predicate: sum
    | sum COMPARISON sum -> compare
    | sum "<" sum -> less
    | sum ">" sum -> greater
    | sum "=" sum -> equal
    | sum "IS"i negated? "NULL"i -> is_null
    | sum "IS"i negated? "DISTINCT"i "FROM"i sum -> distinct_from
    | sum negated? "BETWEEN"i sum "AND"i sum -> between
    | sum negated? "IN"i "(" expression ("," expression)* ")" -> is_in
    | sum negated? "IN"i "(" query ")" -> is_in_query
    | sum negated? "LIKE"i sum escape? -> like
escape: "ESCAPE"i STRING
negated: "NOT"i
?sum: product
    | sum "+" product -> add
    | sum "-" product -> subtract
    | sum "||" product -> concatenate
?product: unary
    | product "*" unary -> multiply
    | product "/" unary -> divide
    | product "%" unary -> modulo
?unary: postfix | "-" unary -> negative | "+" unary -> positive
?postfix: atom
    | postfix "[" expression "]" -> element
    | postfix "->" name -> field
?atom: STRING -> text
    | INTEGER -> integer
    | DECIMAL -> decimal
    | FLOAT -> float_
    | "TRUE"i -> true
    | "FALSE"i -> false
    | "NULL"i -> null
    | VARIABLE -> variable
    | name -> column
    | name "." name -> column_of
    | name "(" ")" -> call
    | name "(" distinct? argument ("," argument)* ")" -> call
    | "CAST"i "(" expression "AS"i type ")" -> cast
    | "CASE"i branch+ otherwise? "END"i -> case
    | "CASE"i expression branch+ otherwise? "END"i -> case_of
    | "ARRAY"i "[" (expression ("," expression)*)? "]" -> make_array
    | "MAP"i "(" (entry ("," entry)*)? ")" -> make_map
    | "STRUCT"i "(" struct_entry ("," struct_entry)* ")" -> make_struct
    | "(" expression ")"
    | "(" query ")" -> subquery
?argument: expression | "*" -> star
branch: "WHEN"i expression "THEN"i expression
otherwise: "ELSE"i expression
entry: expression ":=" expression
struct_entry: name ":=" expression

name: NAME | QUOTED | BACKQUOTED
source_name: NAME | DASHED | QUOTED | BACKQUOTED | VARIABLE

_SHOW: "SHOW"i | "LIST"i
_DESCRIBE: "DESCRIBE"i | "DESC"i
COMPARISON: "<>" | "!=" | "<=" | ">="
VARIABLE: /\$\{[a-z_]\w*\}/i
NAME: /[a-z_@]\w*/i
DASHED.2: /[a-z_]\w*(?:[.-]\w+)+/i
KEY: /[a-z_$][\w.$\/-]*/i
STRING: /'(?:[^']|'')*'/
QUOTED: /"(?:[^"]|"")*"/
BACKQUOTED: /`(?:[^`]|``)*`/
BARE: /(?:\$\{[^}\n]*\}|[^\s,()'"`\\])(?:\$\{[^}\n]*\}|[^\s,)])*/
FLOAT: /(?:\d+\.\d*|\.\d+|\d+)e[+-]?\d+/i
DECIMAL: /\d+\.\d*|\.\d+/
INTEGER: /\d+/
COMMENT.5: /--[^\n]*/ | /\/\*(?:[^*]|\*(?!\/))*\*\//
CONTINUED.5: /\\[ \t\r]*(?:\n|$)/
%ignore /\s+/
%ignore COMMENT
%ignore CONTINUED
"""
