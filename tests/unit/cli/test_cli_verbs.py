"""The verbs over connectors: what they ask of the worker and what they print."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from penstock.runtime.errors import BadRequest, NotFound

Run = Callable[..., Any]

TRACE = "Traceback of a task:\n  [bold]not markup[/]"
STATUS: dict[str, Any] = {
    "name": "n",
    "connector": {"state": "RUNNING", "worker_id": "127.0.0.1:8083"},
    "tasks": [
        {"id": 0, "state": "RUNNING", "worker_id": "127.0.0.1:8083"},
        {"id": 1, "state": "FAILED", "worker_id": "127.0.0.1:8083", "trace": TRACE},
    ],
    "type": "source",
}
INFO = {"name": "n", "config": {"connector.class": "C" * 200}, "tasks": [], "type": "source"}
OFFSETS = {"offsets": [{"partition": {"filename": "[f]"}, "offset": {"position": 5}}]}


@pytest.fixture(autouse=True)
def worker(herder: Mock, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_URL", url)
    herder.connectors.return_value = ["n"]
    herder.status.return_value = STATUS
    herder.info.return_value = INFO
    herder.offsets.return_value = OFFSETS
    herder.topics.return_value = {"n": {"topics": ["t"]}}


def test_get_connectors(run: Run) -> None:
    result = run("get", "connectors")
    heading, row = result.out.strip().splitlines()
    assert heading.split() == ["Name", "Type", "State", "Tasks", "Class"]
    assert row.split() == ["n", "source", "RUNNING", "1/2", "1", "FAILED", "C" * 200]
    assert "\x1b" not in result.out
    assert json.loads(run("get", "connectors", "-o", "json").out) == [
        {"name": "n", "status": STATUS, "info": INFO}
    ]


def test_get_offsets(run: Run) -> None:
    assert '{"filename": "[f]"}' in run("get", "offsets", "n").out
    assert json.loads(run("get", "offsets", "n", "-o", "json").out) == OFFSETS["offsets"]


def test_no_offsets_yet(run: Run, herder: Mock) -> None:
    herder.offsets.return_value = {"offsets": []}
    assert "Connector n has no offsets yet" in run("get", "offsets", "n").err


def test_offsets_of_several(run: Run, herder: Mock) -> None:
    herder.connectors.return_value = ["n", "m"]
    heading, *rows = run("get", "offsets", "*").out.splitlines()
    assert heading.split("\t") == ["Connector", "Partition", "Offset"]
    assert [row.split("\t")[0] for row in rows] == ["m", "n"]


def test_get_some_connectors(run: Run) -> None:
    assert run("get", "connectors", "n*").out.count("\n") == 2
    missing = run("get", "connectors", "x")
    assert (missing.code, "No such connector: x" in missing.err) == (1, True)


def test_get_plugins(run: Run, herder: Mock) -> None:
    herder.plugins.return_value = [{"class": "a.B", "type": "sink"}]
    assert "a.B" in run("get", "plugins").out
    assert json.loads(run("get", "plugins", "--all", "-o", "json").out)[0]["type"] == "sink"
    assert [call.args for call in herder.plugins.call_args_list] == [(True,), (False,)]


def test_describe_connector(run: Run) -> None:
    text = run("describe", "connector", "n").out
    for part in ("RUNNING", "FAILED", "[bold]not markup[/]", "C" * 200, "t", '{"position": 5}'):
        assert part in text
    assert json.loads(run("describe", "connector", "n", "-o", "json").out)[0]["info"] == INFO


def test_describe_connector_names_the_carriers(run: Run, herder: Mock) -> None:
    tasks = [{"id": 0, "carrier": "shared carrier 1"}, {"id": 1, "carrier": None}]
    herder.metrics.return_value = {"name": "n", "tasks": tasks}
    lines = run("describe", "connector", "n").out.splitlines()
    [with_it] = [line for line in lines if "shared carrier 1" in line]
    assert with_it.startswith("Task 0:")
    [found] = json.loads(run("describe", "connector", "n", "-o", "json").out)
    assert found["carriers"] == {"0": "shared carrier 1"}
    herder.metrics.side_effect = NotFound("HTTP 404 Not Found")
    assert json.loads(run("describe", "connector", "n", "-o", "json").out)[0]["carriers"] == {}


def test_describe_connector_names_sparks_application(run: Run, herder: Mock) -> None:
    spark = {"spark_application_id": "local-17", "spark_ui": "http://127.0.0.1:4040"}
    herder.metrics.return_value = {"name": "n", "tasks": [], **spark}
    lines = run("describe", "connector", "n").out.splitlines()
    assert "Spark:    local-17  http://127.0.0.1:4040" in lines
    [found] = json.loads(run("describe", "connector", "n", "-o", "json").out)
    assert found["spark"] == spark
    herder.metrics.return_value = {"name": "n", "tasks": []}
    assert "Spark:" not in run("describe", "connector", "n").out


def test_what_runs_without_progress_is_seen(run: Run, herder: Mock) -> None:
    worker = {"state": "RUNNING", "worker_id": "127.0.0.1:8083"}
    stuck = {**worker, "id": 0, "trace": "No progress since noon: look at the brokers."}
    waiting = {**worker, "trace": "The connector has been waiting since noon."}
    herder.status.return_value = {**STATUS, "connector": waiting, "tasks": [stuck]}
    row = run("get", "connectors").out.splitlines()[1]
    assert row.split()[2:-1] == ["RUNNING", "1/1", "1", "stuck", "waiting"]
    text = run("describe", "connector", "n").out
    assert "    Warning: No progress since noon: look at the brokers.\n" in text
    assert "    Warning: The connector has been waiting since noon.\n" in text


@pytest.mark.parametrize(
    ("content", "name", "config"),
    [
        ({"name": "n", "config": {"a": 1}}, "n", {"a": "1"}),
        ({"name": "new", "a": "b"}, "new", {"name": "new", "a": "b"}),
        ({"config": {"name": "n"}}, "n", {"name": "n"}),
    ],
)
def test_apply(
    run: Run, herder: Mock, tmp_path: Path, *, content: Any, name: str, config: Any
) -> None:
    herder.put_config.return_value = (True, INFO)
    file = tmp_path / "c.json"
    file.write_text(json.dumps(content))
    result = run("apply", "-f", str(file))
    herder.put_config.assert_called_once_with(name, config)
    assert result.out == f"Connector {name} {'updated' if name == 'n' else 'created'}.\n"


def test_apply_from_standard_input(run: Run, herder: Mock, monkeypatch: Any) -> None:
    herder.put_config.return_value = (True, INFO)
    monkeypatch.setattr("sys.stdin", io.StringIO('{"name": "n"}'))
    assert run("apply", "-f", "-").code == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "not an object"),
        ('{"a": "b"}', 'no "name"'),
        ('{"name": 5}', 'no "name"'),
        ('{"name": "n", "config": []}', '"config" must be an object'),
        (None, "No such file"),
    ],
)
def test_files_that_cannot_be_applied(
    run: Run, tmp_path: Path, content: str | None, message: str
) -> None:
    file = tmp_path / "c.json"
    if content is not None:
        file.write_text(content)
    result = run("apply", "-f", str(file))
    assert result.code == 1
    assert message in result.err
    assert str(file) in result.err


@pytest.mark.parametrize(
    ("verb", "state", "tasks"),
    [
        ("pause", "PAUSED", ["PAUSED"]),
        ("resume", "RUNNING", ["RUNNING"]),
        ("stop", "STOPPED", []),
    ],
)
def test_lifecycle_waits_until_it_is_so(
    run: Run, herder: Mock, verb: str, state: str, tasks: list[str]
) -> None:
    done = {"connector": {"state": state}, "tasks": [{"id": 0, "state": s} for s in tasks]}
    before = {"connector": {"state": "UNASSIGNED"}, "tasks": []}
    herder.status.side_effect = [before, done]
    assert run(verb, "connector", "n").out == f"Connector n is {state}.\n"
    getattr(herder, verb).assert_called_once_with("n")
    assert run(verb, "connector", "n", "--wait", "0").out == f"Connector n will be {state}.\n"


def test_restart(run: Run, herder: Mock) -> None:
    herder.restart.return_value = None
    assert run("restart", "connector", "n").code == 0
    herder.restart.return_value = STATUS
    assert run("restart", "connector", "n", "--include-tasks", "--only-failed").code == 0
    assert [call.args[1:] for call in herder.restart.call_args_list] == [
        (False, False),
        (True, True),
    ]


def test_a_restart_says_which_tasks_it_leaves_failed(run: Run, herder: Mock) -> None:
    herder.restart.return_value = None
    says = run("restart", "connector", "n").out
    assert says == "Connector n is restarting. 1 task is still FAILED: add --include-tasks.\n"
    running = [{**task, "state": "RUNNING"} for task in STATUS["tasks"]]
    herder.status.return_value = {**STATUS, "tasks": running}
    assert run("restart", "connector", "n").out == "Connector n is restarting.\n"


@pytest.mark.parametrize(
    ("connector", "tasks", "says"),
    [
        ("RESTARTING", ["RUNNING"], "Connector n is restarting."),
        ("RESTARTING", ["RESTARTING"] * 2, "Connector n and 2 tasks are restarting."),
        ("RUNNING", ["RUNNING", "RESTARTING"], "1 task of connector n is restarting."),
        ("RUNNING", ["RUNNING"], "Nothing of connector n has FAILED: nothing is restarted."),
    ],
)
def test_only_failed_means_tasks_too(
    run: Run, herder: Mock, connector: str, tasks: list[str], says: str
) -> None:
    planned = [{"id": i, "state": state, "worker_id": "w"} for i, state in enumerate(tasks)]
    parts = {"connector": {"state": connector, "worker_id": "w"}, "tasks": planned}
    herder.restart.return_value = {**STATUS, **parts}
    assert run("restart", "connector", "n", "--only-failed").out == f"{says}\n"
    herder.restart.assert_called_once_with("n", True, True)


def test_delete(run: Run, herder: Mock) -> None:
    herder.reset_offsets.return_value = "have been reset"
    assert run("delete", "connector", "n").code == 0
    herder.delete.assert_called_once_with("n")
    assert run("delete", "offsets", "n").out == "have been reset\n"


@pytest.mark.parametrize(
    ("args", "entry"),
    [
        (
            ("--source-partition", '{"filename":"f"}', "--source-offset", '{"position":4}'),
            {"partition": {"filename": "f"}, "offset": {"position": 4}},
        ),
        (
            ("--source-partition", "{}", "--source-offset", "null"),
            {"partition": {}, "offset": None},
        ),
        (
            ("--kafka-topic", "t", "--kafka-partition", "0", "--kafka-offset", "7"),
            {
                "partition": {"kafka_topic": "t", "kafka_partition": 0},
                "offset": {"kafka_offset": "7"},
            },
        ),
        (
            ("--kafka-topic", "t", "--kafka-partition", "3", "--kafka-offset", "null"),
            {"partition": {"kafka_topic": "t", "kafka_partition": 3}, "offset": None},
        ),
    ],
)
def test_patch_offsets(run: Run, herder: Mock, args: tuple[str, ...], entry: Any) -> None:
    herder.alter_offsets.return_value = "have been altered"
    assert run("patch", "offsets", "n", *args).out == "have been altered\n"
    herder.alter_offsets.assert_called_once_with("n", [entry])


def test_what_get_prints_can_be_patched(run: Run, herder: Mock, tmp_path: Path) -> None:
    herder.alter_offsets.return_value = "done"
    file = tmp_path / "o.json"
    file.write_text(run("get", "offsets", "n", "-o", "json").out)
    assert run("patch", "offsets", "n", "-f", str(file)).code == 0
    herder.alter_offsets.assert_called_once_with("n", OFFSETS["offsets"])
    file.write_text('{"offsets": 5}')
    assert run("patch", "offsets", "n", "-f", str(file)).code == 2


def test_patch_with_text_that_is_not_json(run: Run) -> None:
    result = run("patch", "offsets", "n", "--source-partition", "f", "--source-offset", "{}")
    assert result.code == 1
    assert "--source-partition is not JSON" in result.err


@pytest.mark.parametrize("error", [NotFound("Unknown connector n"), BadRequest("not [so]")])
def test_the_worker_s_words_reach_the_user(run: Run, herder: Mock, error: Exception) -> None:
    herder.stop.side_effect = error
    result = run("stop", "connector", "n")
    assert (result.code, result.out) == (1, "")
    assert result.err.splitlines()[0] == f"Error: {error}"
