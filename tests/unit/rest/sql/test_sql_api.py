"""Statements over HTTP: ksqlDB's shapes, roles, masking, and what is passed on to the leader."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn
from unittest.mock import Mock

import httpx
import pytest
from fastapi import FastAPI

from penstock.rest import create_app
from penstock.rest.access.caller import ANYBODY, Caller, Role, set_current
from penstock.rest.herder_api import HerderApi
from penstock.rest.sql.api import SqlApi
from penstock.rest.sql.failures import Failure
from penstock.runtime.cluster.peers import Answer, NotLeading
from penstock.runtime.errors import Conflict
from penstock.sdk.errors import UserError
from served_app import serving

FILE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
SECRET = "hunter2-of-this-test"
CREATE = f"CREATE SOURCE CONNECTOR c WITH (connector.class={FILE}, my.password='{SECRET}');"
Json = dict[str, Any]


def none_here() -> NoReturn:
    raise UserError("No broker found.")


@pytest.fixture
def herder() -> Mock:
    made = Mock(spec=HerderApi)
    made.health.return_value = ("healthy", "fine")
    made.root.return_value = {"penstock_version": "1", "kafka_cluster_id": "k"}
    made.connectors.return_value = []
    made.plugins.return_value = [{"class": FILE, "type": "source", "version": "1"}]
    made.validate.return_value = {"configs": []}
    made.create.side_effect = lambda name, config, _: {
        "name": name,
        "config": config,
        "tasks": [],
        "type": "source",
    }
    return made


@pytest.fixture
def api(herder: Mock) -> Iterator[SqlApi]:
    made = SqlApi(herder, none_here, none_here, set)
    yield made
    made.close()
    set_current(ANYBODY)


def asked(sql: str, **more: Any) -> bytes:
    return json.dumps({"ksql": sql, **more}).encode()


def test_each_statement_has_an_entity_without_its_secrets(api: SqlApi, herder: Mock) -> None:
    made, listed = api.statements(asked(f"{CREATE} SHOW CONNECTORS;"))
    assert made["@type"] == "connector_info"
    assert made["info"]["name"] == "c"
    assert "my.password='[string]'" in made["statementText"]
    assert made["statementText"].endswith(";")
    assert made["warnings"] == []
    assert listed["@type"] == "connector_list"
    assert SECRET not in json.dumps([made, listed])
    herder.create.assert_called_once()


def test_an_error_says_which_statement_and_what_was_done(api: SqlApi) -> None:
    with pytest.raises(Failure) as caught:
        api.statements(asked(f"{CREATE} DROP CONNECTOR nobody; SHOW CONNECTORS;"))
    body = caught.value.body()
    assert caught.value.status == 400
    assert body["@type"] == "statement_error"
    assert body["error_code"] == 40001
    assert "Connector nobody does not exist" in body["message"]
    assert body["statementText"] == "DROP CONNECTOR nobody;"
    assert [each["@type"] for each in body["entities"]] == ["connector_info"]


def test_a_script_with_a_mistake_in_it_is_not_begun(api: SqlApi, herder: Mock) -> None:
    with pytest.raises(Failure) as caught:
        api.statements(asked(f"{CREATE} CREATE SOURCE CONECTOR d WITH (a='{SECRET}');"))
    body = caught.value.body()
    assert "Did you mean CONNECTOR?" in body["message"]
    assert body["entities"] == []
    assert SECRET not in json.dumps(body)
    herder.create.assert_not_called()


def test_what_exists_already_is_a_conflict(api: SqlApi, herder: Mock) -> None:
    herder.connectors.return_value = ["c"]
    with pytest.raises(Failure) as caught:
        api.statements(asked(CREATE))
    assert (caught.value.status, caught.value.code) == (409, 40900)


def test_kafka_connects_refusal_keeps_its_status(api: SqlApi, herder: Mock) -> None:
    herder.connectors.return_value = ["c"]
    herder.reset_offsets.side_effect = Conflict("it is running")
    with pytest.raises(Failure) as caught:
        api.statements(asked("RESET CONNECTOR OFFSETS c;"))
    assert (caught.value.code, str(caught.value)) == (40900, "it is running")


@pytest.mark.parametrize("sql", ["SELECT * FROM s EMIT CHANGES;", "PRINT 't';"])
def test_queries_belong_to_another_endpoint(api: SqlApi, sql: str) -> None:
    with pytest.raises(Failure) as caught:
        api.statements(asked(sql))
    assert caught.value.code == 40002
    assert "/query-stream" in str(caught.value)


def test_variables_come_with_the_request_and_hold_from_statement_to_statement(
    api: SqlApi, herder: Mock
) -> None:
    sql = (
        f"DEFINE f='in'; CREATE SOURCE CONNECTOR ${{n}} WITH (connector.class={FILE}, file=${{f}});"
    )
    (made,) = api.statements(asked(sql, sessionVariables={"n": "c"}))
    assert made["info"]["name"] == "c"
    assert herder.create.call_args[0][1]["file"] == "in"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"no", "not JSON"),
        (b"[]", "must be a JSON object"),
        (b"{}", '"ksql"'),
        (asked("", streamsProperties=3), '"streamsProperties" must be an object'),
        (asked("", sessionVariables={"a": []}), '"sessionVariables" must be an object'),
        (asked("", commandSequenceNumber="x"), "whole number"),
    ],
)
def test_a_body_of_another_form_is_refused(api: SqlApi, body: bytes, says: str) -> None:
    with pytest.raises(Failure) as caught:
        api.statements(body)
    assert caught.value.body()["error_code"] == 40000
    assert says in str(caught.value)


def test_to_look_needs_read_and_to_change_needs_operate(api: SqlApi, herder: Mock) -> None:
    set_current(Caller("ann", Role.READ))
    assert api.statements(asked("SHOW CONNECTORS; DEFINE a='1'; SET 'b'='2';"))
    for sql in (CREATE, "INSERT INTO s VALUES (1);", "DROP STREAM s;", "RUN SCRIPT 'x';"):
        with pytest.raises(Failure) as caught:
            api.statements(asked(sql))
        assert caught.value.code == 40300, sql
        assert "ann has the role read" in str(caught.value)
    herder.create.assert_not_called()


def test_a_script_of_this_machine_is_not_run(api: SqlApi) -> None:
    with pytest.raises(Failure, match="the prompt can run scripts"):
        api.statements(asked("RUN SCRIPT '/etc/passwd';"))


def test_only_the_statement_that_needs_the_leader_is_passed_on(api: SqlApi, herder: Mock) -> None:
    herder.create.side_effect = NotLeading("not here")
    herder.forward.return_value = Answer(200, b'[{"@type": "connector_info"}]', None)
    set_current(Caller("ann", Role.OPERATE))
    sql = f"SHOW CONNECTORS; DEFINE v = '1'; {CREATE} SHOW CONNECTOR PLUGINS;"
    done = api.statements(asked(sql, streamsProperties={"p": "q"}))
    assert [each["@type"] for each in done] == [
        "connector_list",
        "connector_info",
        "connector_plugins_list",
    ]
    ((method, target, body, role), _) = herder.forward.call_args
    assert (method, target, role.split()[:2]) == ("POST", "/ksql", ["operate", "ann"])
    assert json.loads(body) == {
        "ksql": CREATE,
        "streamsProperties": {"p": "q"},
        "sessionVariables": {"v": "1"},
    }


def test_the_leaders_refusal_is_told_with_what_was_done_here(api: SqlApi, herder: Mock) -> None:
    herder.create.side_effect = NotLeading("not here")
    refusal = {"@type": "statement_error", "error_code": 40900, "message": "taken", "entities": []}
    herder.forward.return_value = Answer(409, json.dumps(refusal).encode(), None)
    with pytest.raises(Failure) as caught:
        api.statements(asked(f"SHOW CONNECTORS; {CREATE}"))
    body = caught.value.body()
    assert (body["error_code"], body["message"], len(body["entities"])) == (40900, "taken", 1)
    assert SECRET not in json.dumps(body)


def test_what_a_peer_has_passed_on_is_not_passed_on_again(api: SqlApi, herder: Mock) -> None:
    herder.create.side_effect = NotLeading("not here")
    set_current(Caller("ann", Role.OPERATE, peer="other:8083"))
    with pytest.raises(Failure) as caught:
        api.statements(asked(CREATE))
    assert caught.value.code == 40900
    herder.forward.assert_not_called()


@pytest.fixture
def http(herder: Mock) -> Iterator[httpx.Client]:
    def sql(masked: HerderApi) -> SqlApi:
        return SqlApi(masked, none_here, none_here, set)

    app: FastAPI = create_app(herder, sql=sql)
    with serving(app) as client:
        yield client


def test_over_http(http: httpx.Client) -> None:
    ksql = {"Content-Type": "application/vnd.ksql.v1+json; charset=utf-8"}
    listed = http.post("/ksql", content=asked("SHOW CONNECTORS;"), headers=ksql)
    assert (listed.status_code, listed.json()[0]["@type"]) == (200, "connector_list")
    wrong = http.post("/ksql", json={"ksql": "SHOW CONECTORS;"})
    assert (wrong.status_code, wrong.json()["error_code"]) == (400, 40001)
    assert (
        http.post("/ksql", content=asked(""), headers={"Content-Type": "text/plain"}).status_code
        == 415
    )
    assert http.get("/info").json()["KsqlServerInfo"]["serverStatus"] == "RUNNING"
    assert http.get("/healthcheck").json()["isHealthy"] is True
    for path in ("/query", "/query-stream"):
        refused = http.post(path, json={"sql": "SHOW CONNECTORS;"})
        assert (refused.status_code, refused.json()["error_code"]) == (400, 40001)
    gone = http.post("/close-query", json={"queryId": "nobody"})
    assert (gone.status_code, gone.json()["error_code"]) == (400, 40001)
    nameless = http.post("/inserts-stream", json={})
    assert (nameless.status_code, nameless.json()["error_code"]) == (400, 40000)


def test_a_worker_that_starts_says_so(http: httpx.Client, herder: Mock) -> None:
    herder.health.return_value = ("starting", "reading")
    answer = http.get("/healthcheck")
    assert (answer.status_code, answer.json()["serverState"]) == (503, "STARTING")
    assert http.post("/ksql", json={"ksql": "SHOW CONNECTORS;"}).status_code == 503
