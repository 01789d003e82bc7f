"""Connector statements: what is printed, refused, and asked of Kafka Connect."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.sdk.errors import PenstockError
from penstock.sql.connecting import patience
from penstock.sql.errors import SqlError
from penstock.sql.running.session import SqlSession
from penstock.sql.shell.output import Form
from played_connect import PlayedConnect

FILE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"
CREATE = r"""CREATE EXTERNAL SOURCE my-postgres-jdbc WITH ( \
      connector.class="io.confluent.connect.jdbc.jdbcSourceConnector", \
      tasks.max=1, \
      connection.url=jdbc:postgresql://localhost:5432/my-db, \
      topic.prefix=test-postgres-jdbc);"""
Typed = Callable[..., str]


def test_the_external_forms_print_what_klip_7_prints(typed: Typed, connect: PlayedConnect) -> None:
    assert typed(CREATE) == "\n--------------\nSOURCE CREATED\n--------------\n"
    assert typed("SHOW EXTERNAL SOURCES;") == (
        "\n"
        "      name       |                   connector                   |    topic prefix\n"
        "-----------------|-----------------------------------------------|--------------------\n"
        "my-postgres-jdbc | io.confluent.connect.jdbc.JdbcSourceConnector | test-postgres-jdbc\n"
    )
    connect.used["my-postgres-jdbc"] = ["test-postgres-jdbc-user-table"]
    assert typed("DESCRIBE my-postgres-jdbc;") == (
        "\n"
        "name: my-postgres-jdbc\n"
        "connector: io.confluent.connect.jdbc.JdbcSourceConnector\n"
        "topic-prefix: test-postgres-jdbc\n"
        "\n"
        "   worker id     | task | status\n"
        "-----------------|------|---------\n"
        "10.200.7.69:8083 | 0    | RUNNING\n"
        "\n"
        "   name    |             topic             | schema\n"
        "-----------|-------------------------------|--------\n"
        "user-table | test-postgres-jdbc-user-table |\n"
    )
    dropped = typed("DROP EXTERNAL SOURCE my-postgres-jdbc TERMINATE;")
    assert dropped == "\n--------------\nSOURCE DROPPED\n--------------\n"
    assert connect.calls == [("stop", "my-postgres-jdbc"), ("delete", "my-postgres-jdbc")]


def test_a_sink_is_described_without_schemas(typed: Typed, connect: PlayedConnect) -> None:
    made = typed(f"CREATE EXTERNAL SINK my-sink WITH (connector.class={SINK}, topics=lines);")
    assert made == "\n--------------\nSINK CREATED\n--------------\n"
    connect.used["my-sink"] = ["lines"]
    assert typed("DESCRIBE my-sink;").endswith("name  | topic\n------|-------\nlines | lines\n")
    assert "my-sink" not in typed("SHOW EXTERNAL SOURCES;")
    assert "my-sink | " in typed("SHOW EXTERNAL SINKS;")


def test_the_shipped_forms_print_what_ksqldb_prints(typed: Typed, connect: PlayedConnect) -> None:
    made = typed(f"CREATE SOURCE CONNECTOR f WITH ('connector.class'='{FILE}', 'topic'='t');")
    assert "Created connector f" in made
    connect.used["f"] = ["t"]
    connect.traces["f"] = "It broke.\nat line 2"
    listed = typed("SHOW SOURCE CONNECTORS;").splitlines()
    assert [word.strip() for word in listed[1].split("|")] == [
        "Connector Name",
        "Type",
        "Class",
        "Status",
    ]
    assert [word.strip() for word in listed[3].split("|")] == [
        "f",
        "SOURCE",
        FILE,
        "WARNING (0/1 tasks RUNNING)",
    ]
    assert listed[2] == listed[4] == "-" * len(listed[2])
    described = typed("DESCRIBE CONNECTOR f;")
    for part in (
        "Name                 : f",
        "WorkerId             : 10.",
        "Related Topics",
        " t\n",
    ):
        assert part in described
    assert " 0       | FAILED | It broke." in described
    assert 'Dropped connector "f"' in typed("DROP CONNECTOR f;")


def test_an_existing_connector_is_refused_or_warned_of(typed: Typed) -> None:
    create = f"CREATE SOURCE CONNECTOR %s f WITH ('connector.class'='{FILE}');"
    typed(create % "")
    with pytest.raises(SqlError, match="Connector f already exists") as caught:
        typed((create % "").replace(" f ", " F "))
    assert caught.value.code == 40900
    assert typed(create % "IF NOT EXISTS") == "\nWarning: Connector f already exists\n"
    typed("DROP CONNECTOR F;")
    assert "'f' does not exist" in typed("DROP CONNECTOR IF EXISTS f;")


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        (
            f"CREATE SOURCE CONNECTOR c WITH (connector.class={FILE}, file='', topics='');",
            "Validation error:\n  topics - must not be blank\n  file - must be a path",
        ),
        ("CREATE SOURCE CONNECTOR c WITH (topic=t);", "has no connector type"),
        ("CREATE SOURCE CONNECTOR c WITH (connector.class='');", "type cannot be empty"),
        (
            "CREATE SOURCE CONNECTOR c WITH (connector.class=a.b.FileStreamSourceConector);",
            f"Did you mean {FILE}?",
        ),
        (f"CREATE SOURCE CONNECTOR c WITH (connector.class={SINK});", "CREATE SINK CONNECTOR"),
        (f"CREATE EXTERNAL SOURCE c FROM t WITH (connector.class={FILE});", "FROM is for sinks"),
        (
            f"CREATE EXTERNAL SINK c FROM t WITH (connector.class={SINK}, topics=x);",
            "either FROM t or 'topics'",
        ),
        ("DROP CONNECTOR nine;", "Connector nine does not exist"),
        ("DESCRIBE nine;", "There is no stream, table or connector nine"),
        ("ALTER CONNECTOR nine OFFSETS PARTITION '{}' TO NULL;", "does not exist"),
    ],
)
def test_what_is_wrong_is_told_at_once(typed: Typed, statement: str, says: str) -> None:
    with pytest.raises(SqlError) as caught:
        typed(statement)
    assert says in str(caught.value)


def test_without_terminate_only_a_stopped_connector_is_dropped(
    typed: Typed, connect: PlayedConnect
) -> None:
    typed(f"CREATE EXTERNAL SOURCE c WITH (connector.class={FILE});")
    with pytest.raises(SqlError, match="c is RUNNING"):
        typed("DROP EXTERNAL SOURCE c;")
    with pytest.raises(SqlError, match="c is a source: use DROP EXTERNAL SOURCE"):
        typed("DROP EXTERNAL SINK c TERMINATE;")
    assert connect.calls == []
    typed("STOP CONNECTOR c; DROP EXTERNAL SOURCE c;")
    assert connect.configs == {}


def test_a_jdbc_source_takes_the_key_from_a_column(typed: Typed, connect: PlayedConnect) -> None:
    typed(CREATE.replace(");", ", 'key'='id', transforms=a);"))
    config = connect.configs["my-postgres-jdbc"]
    assert config["transforms"] == "a,ksqlCreateKey,ksqlExtractString"
    assert {k: v for k, v in config.items() if k.startswith("transforms.")} == {
        "transforms.ksqlCreateKey.type": "org.apache.kafka.connect.transforms.ValueToKey",
        "transforms.ksqlCreateKey.fields": "id",
        "transforms.ksqlExtractString.type": (
            "org.apache.kafka.connect.transforms.ExtractField$Key"
        ),
        "transforms.ksqlExtractString.field": "id",
    }
    assert "key" not in config


def test_without_that_shortcut_nothing_is_added(typed: Typed, connect: PlayedConnect) -> None:
    typed(CREATE.replace("tasks.max=1, ", ""))
    config = connect.configs["my-postgres-jdbc"]
    assert config["tasks.max"] == "1", "as in ksqlDB"
    assert not [key for key in config if key.startswith("transforms")]
    typed(f"CREATE SOURCE CONNECTOR f WITH (connector.class={FILE}, 'key'='id');")
    assert connect.configs["f"] == {"name": "f", "connector.class": FILE, "key": "id"}


def test_a_connector_is_changed_in_place_also_where_there_is_no_patch(
    typed: Typed, connect: PlayedConnect
) -> None:
    typed(f"CREATE SOURCE CONNECTOR c WITH (connector.class={FILE}, topic=t, a=b);")
    typed("ALTER CONNECTOR c SET (topic = u, x = y); ALTER CONNECTOR c UNSET (a);")
    assert connect.configs["c"] == {"name": "c", "connector.class": FILE, "topic": "u", "x": "y"}
    typed("PAUSE CONNECTOR c; RESUME CONNECTOR c; RESTART CONNECTOR c INCLUDE TASKS;")
    assert connect.calls == [("pause", "c"), ("resume", "c"), ("restart", "c", "True", "False")]


def test_offsets_are_shown_altered_and_reset(typed: Typed) -> None:
    typed(f"CREATE SOURCE CONNECTOR c WITH (connector.class={FILE});")
    altered = typed("""ALTER CONNECTOR c OFFSETS PARTITION '{"f": "a"}' TO '{"p": 3}';""")
    assert "altered successfully" in altered
    assert '{"f": "a"} | {"p": 3}' in typed("SHOW CONNECTOR OFFSETS c;")
    assert "reset successfully" in typed("RESET CONNECTOR OFFSETS c;")
    with pytest.raises(SqlError, match="is not JSON"):
        typed("ALTER CONNECTOR c OFFSETS PARTITION 'x' TO NULL;")


def test_a_key_that_is_probably_misspelt_is_told(typed: Typed) -> None:
    made = typed(f"CREATE SOURCE CONNECTOR c WITH (connector.class={FILE}, task.max=1);")
    assert "Warning: task.max is not a key of this connector: did you mean tasks.max?" in made


def test_a_refusal_that_quotes_a_secret_does_not_show_it(typed: Typed) -> None:
    with pytest.raises(SqlError) as caught:
        typed(f"CREATE SOURCE CONNECTOR c WITH (connector.class={FILE}, my.password=hunter2);")
    assert str(caught.value) == "Invalid value [hidden]"


def test_json_and_csv(typed: Typed) -> None:
    secret = f"CREATE SOURCE CONNECTOR c WITH (connector.class={FILE}, a.secret=hunter2);"
    entity = json.loads(typed(secret, Form.JSONL))
    assert entity["@type"] == "connector_info"
    assert "hunter2" not in str(entity)
    assert "a.secret='[string]'" in entity["statementText"]
    assert typed("SHOW EXTERNAL SOURCES;", Form.CSV).splitlines() == [
        "name,connector,topic prefix",
        f"c,{FILE},",
    ]


def test_json_is_a_list_of_all_objects_and_jsonl_a_line_for_each(typed: Typed) -> None:
    script = "SHOW EXTERNAL SOURCES; SHOW CONNECTOR PLUGINS;"
    kinds = ["connector_list", "connector_plugins_list"]
    assert [each["@type"] for each in json.loads(typed(script, Form.JSON))] == kinds
    lines = typed(script, Form.JSONL).splitlines()
    assert [json.loads(line)["@type"] for line in lines] == kinds
    assert json.loads(typed("", Form.JSON)) == []


def test_tables_fit_the_terminal(typed: Typed) -> None:
    typed(CREATE)
    for width in (80, 60, 40):
        lines = typed("SHOW CONNECTORS; SHOW EXTERNAL SOURCES;", Form.TABLE, width).splitlines()
        assert max(map(len, lines)) <= width, width


def test_variables_hold_for_the_next_statement(typed: Typed, session: SqlSession) -> None:
    typed(f"DEFINE n = 'my-c'; CREATE SOURCE CONNECTOR ${{n}} WITH (connector.class={FILE});")
    assert session.home.connect.connectors() == ["my-c"]
    typed("UNDEFINE N;")
    with pytest.raises(SqlError, match="There is no variable n"):
        typed("DROP CONNECTOR ${n};")


def test_a_script_runs_statements_and_refuses_queries(typed: Typed, tmp_path: Path) -> None:
    script = tmp_path / "a.sql"
    script.write_text(f"CREATE SOURCE CONNECTOR c WITH (connector.class={FILE});\nSELECT * FROM s;")
    with pytest.raises(SqlError, match="A script cannot have this statement: SELECT"):
        typed(f"RUN SCRIPT '{script}';")
    script.write_text(f"RUN SCRIPT '{script}';")
    with pytest.raises(SqlError, match="it runs itself"):
        typed(f"RUN SCRIPT '{script}';")
    with pytest.raises(SqlError, match="Cannot read the script"):
        typed("RUN SCRIPT '/nowhere/a.sql';")


class RefusalError(PenstockError):
    """As the client raises it."""

    status = 409


def test_a_rebalance_of_kafka_connect_is_waited_for(
    typed: Typed, connect: PlayedConnect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "PAUSE_SECONDS", 0)
    told = ["Request cannot be completed because a rebalance is expected"] * 3
    pause = connect.pause

    def refusing(name: str) -> None:
        if told:
            raise RefusalError(told.pop())
        pause(name)

    monkeypatch.setattr(connect, "pause", refusing)
    typed(f"CREATE SOURCE CONNECTOR c WITH (connector.class={FILE}); PAUSE CONNECTOR c;")
    assert connect.calls == [("pause", "c")]
    told.append("Connector c is locked")
    with pytest.raises(RefusalError, match="is locked"):
        typed("PAUSE CONNECTOR c;")
    told.extend(["a rebalance"] * 3)
    monkeypatch.setattr(patience, "MOST_SECONDS", -1)
    with pytest.raises(RefusalError, match="a rebalance"):
        typed("PAUSE CONNECTOR c;")
