"""Everything that can be wrong with a request, and Kafka Connect's answer to it."""

import logging
from typing import Any
from unittest.mock import Mock

import httpx
import pytest

from penstock.rest import create_app
from penstock.runtime.errors import (
    BadRequest,
    Conflict,
    InternalError,
    NotFound,
    RequestError,
    Unavailable,
)
from penstock.sdk.errors import UserError
from served_app import serving

JSON = {"content-type": "application/json"}
NO_OFFSETS = "Partitions / offsets need to be provided for an alter offsets request"
NESTED = (
    "Cannot deserialize value of type `java.lang.String` from Object value "
    "(token `JsonToken.START_OBJECT`)"
)
IN_ARRAY = (
    "Cannot deserialize value of type `java.lang.String` from Array value "
    "(token `JsonToken.START_ARRAY`)"
)


def assert_error(response: httpx.Response, status: int, message: str) -> None:
    assert response.status_code == status
    body = response.json()
    assert set(body) == {"error_code", "message"}
    assert body["error_code"] == status
    assert message in body["message"]
    assert "Traceback" not in response.text


@pytest.mark.parametrize(
    ("method", "path", "status", "message"),
    [
        ("GET", "/nowhere", 404, "HTTP 404 Not Found"),
        ("GET", "/connectors/n/tasks-config", 404, "HTTP 404 Not Found"),
        ("GET", "/connectors//status", 404, "HTTP 404 Not Found"),
        ("GET", "/connectors/n/tasks/first/status", 404, "HTTP 404 Not Found"),
        ("POST", "/connectors/n/tasks/1.0/restart", 404, "HTTP 404 Not Found"),
        ("POST", "/connectors/n/tasks/99999999999/restart", 404, "HTTP 404 Not Found"),
        ("POST", "/connectors/n/tasks/%D9%A1/restart", 404, "HTTP 404 Not Found"),
        ("DELETE", "/connectors", 405, "HTTP 405 Method Not Allowed"),
        ("POST", "/connectors/n/status", 405, "HTTP 405 Method Not Allowed"),
        ("PUT", "/connectors/n/restart", 405, "HTTP 405 Method Not Allowed"),
        ("POST", "/connectors", 415, "HTTP 415 Unsupported Media Type"),
        ("PUT", "/connectors/n/config", 415, "HTTP 415 Unsupported Media Type"),
    ],
)
def test_http_errors(http: httpx.Client, method: str, path: str, status: int, message: str) -> None:
    assert_error(http.request(method, path), status, message)


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_only_json_is_taken(http: httpx.Client, content_type: str) -> None:
    response = http.put(
        "/connectors/n/config", content=b"{}", headers={"content-type": content_type}
    )
    assert_error(response, 415, "HTTP 415 Unsupported Media Type")


def test_charset_is_accepted(http: httpx.Client, herder: Mock) -> None:
    herder.put_config.return_value = (False, {})
    headers = {"content-type": "application/json; charset=utf-8"}
    assert http.put("/connectors/n/config", content=b"{}", headers=headers).status_code == 200


def test_huge_body_is_refused(http: httpx.Client) -> None:
    response = http.put("/connectors/n/config", content=b" " * (10 * 2**20 + 1), headers=JSON)
    assert_error(response, 413, "HTTP 413 Request Entity Too Large")


@pytest.mark.parametrize(
    ("body", "fragment"),
    [
        (b"{", "Unexpected end-of-input"),
        (b'{"a": "b', "Unexpected end-of-input"),
        (b"hello", "Unrecognized token 'hello': was expecting (JSON String, Number, Array"),
        (b'{"a": tru}', "Unrecognized token 'tru'"),
        (b'{"a": NaN}', "Non-standard token 'NaN': enable"),
        (b'{"a": 012}', "Invalid numeric value: Leading zeroes not allowed"),
        (b"{a: 1}", "Unexpected character ('a' (code 97)): was expecting double-quote to start"),
        (b'{"a" 1}', "Unexpected character ('1' (code 49)): was expecting a colon"),
        (b'{"a": "1" "b"}', "Unexpected character ('\"' (code 34)): was expecting comma"),
        (b'{"a": "1",}', "Unexpected character"),
        (b'{"a": "1"} x', "Unrecognized token 'x': was expecting"),
        (b'{"a":', "Unexpected end-of-input within/between Object entries"),
        (b'{"a": [', IN_ARRAY),
        (b'{"a": {"b": 1', NESTED),
        (b'{"a": "b", "c": [1 2]}', IN_ARRAY),
        (b'{"a": "b", "c', "Unexpected end-of-input"),
        (b'{"a": "1\n"}', "Illegal unquoted character ((CTRL-CHAR, code 10)): has to be escaped"),
        (b'{"a": "\\q"}', "Unrecognized character escape 'q' (code 113)"),
        (b'{"a": "\xff"}', "Invalid UTF-8 start byte 0xff"),
        (
            b"[]",
            "Cannot deserialize value of type `java.util.LinkedHashMap<java.lang.String,java.la",
        ),
        (
            b'"text"',
            "Cannot construct instance of `java.util.LinkedHashMap` (although at least one",
        ),
        (b"5", "from Integer value (token `JsonToken.VALUE_NUMBER_INT`)"),
        (b"true", "from Boolean value (token `JsonToken.VALUE_TRUE`)"),
        (b'{"a": {"b": "c"}}', NESTED),
        (b'{"a": ["b"]}', IN_ARRAY),
    ],
)
def test_bodies_that_are_no_config(http: httpx.Client, body: bytes, fragment: str) -> None:
    response = http.put("/connectors/n/config", content=body, headers=JSON)
    assert_error(response, 500, fragment)


ENTITIES = "`org.apache.kafka.connect.runtime.rest.entities."


@pytest.mark.parametrize(
    ("body", "fragment"),
    [
        (b"[1", f"Cannot deserialize value of type {ENTITIES}ConnectorOffsets` from Array"),
        (b'{"offsets": {"a" 1}}', "Cannot deserialize value of type `java.util.ArrayList<"),
        (b'{"offsets": "x" y', "ConnectorOffset>` from String value"),
        (b'{"offsets": [[1 ', f"of type {ENTITIES}ConnectorOffset` from Array value"),
        (b'{"offsets": [1 x', f"Cannot construct instance of {ENTITIES}ConnectorOffset`"),
        (b'{"offsets": [{"partition": [1 2', "java.lang.Object>` from Array value"),
        (b'{"offsets": [{"partition": {"a": 1}, "offset": 7 ', "Object>` from Integer value"),
        (b'{"offsets": [{"partition": {"a": 1} "offset"', "was expecting comma to separate Object"),
        (b'{"offsets": [{"other": 1, x', "Unexpected character ('x' (code 120))"),
        (b'{"x": [', "Unexpected end-of-input: expected close marker for Array"),
        (b'{"offsets": [', "Unexpected end-of-input: expected close marker for Array"),
    ],
)
def test_of_two_mistakes_in_offsets_the_first_is_told(
    http: httpx.Client, body: bytes, fragment: str
) -> None:
    assert_error(http.patch("/connectors/n/offsets", content=body, headers=JSON), 500, fragment)


def test_malformed_json_says_where(http: httpx.Client) -> None:
    response = http.put("/connectors/n/config", content=b'{\n  "a": x}', headers=JSON)
    assert "[line: 2, column: 8]" in response.json()["message"]


@pytest.mark.parametrize("body", [b"null", b"", b"  "])
def test_absent_body(http: httpx.Client, body: bytes) -> None:
    for method, path in (("PUT", "/connectors/n/config"), ("POST", "/connectors")):
        response = http.request(method, path, content=body, headers=JSON)
        assert_error(response, 400, "The request has no body")


def test_scalars_become_java_text(http: httpx.Client, herder: Mock) -> None:
    herder.put_config.return_value = (False, {})
    body = b'{"a": 1, "b": 1.50, "c": true, "d": false, "e": 1e3, "f": -0, "g": null, "h": "x"}'
    http.put("/connectors/n/config", content=body, headers=JSON)
    sent = herder.put_config.call_args.args[1]
    assert sent == {
        "a": "1",
        "b": "1.50",
        "c": "true",
        "d": "false",
        "e": "1e3",
        "f": "-0",
        "g": None,
        "h": "x",
    }
    assert {type(value) for value in sent.values()} == {str, type(None)}


@pytest.mark.parametrize(
    ("body", "fragment"),
    [
        ({"name": "n"}, 'The request contains no "config"'),
        (
            {"name": "n", "config": {}, "extra": 1},
            'Unrecognized field "extra" (class org.apache.kafka.connect.runtime.rest.entities.'
            "CreateConnectorRequest), not marked as ignorable (3 known properties: "
            '"config", "name", "initial_state")',
        ),
        ({"name": {}, "config": {}}, NESTED),
        ({"name": "n", "config": {"a": {}}}, NESTED),
        ({"name": "n", "config": "text"}, "Cannot construct instance of"),
        ({"name": "n", "config": []}, "Cannot deserialize value of type"),
        (
            {"name": "n", "config": {}, "initial_state": "HAPPY"},
            "Cannot construct instance of `org.apache.kafka.connect.runtime.rest.entities."
            "CreateConnectorRequest$InitialState`, problem: No enum constant",
        ),
        (["n"], "Cannot deserialize value of type"),
    ],
)
def test_wrong_create_requests(http: httpx.Client, body: Any, fragment: str) -> None:
    assert_error(http.post("/connectors", json=body), 500, fragment)


@pytest.mark.parametrize(
    ("given", "passed_on"), [("stopped", "STOPPED"), ("Paused", "PAUSED"), (None, None)]
)
def test_initial_state(
    http: httpx.Client, herder: Mock, given: str | None, passed_on: str | None
) -> None:
    herder.create.return_value = {}
    http.post("/connectors", json={"name": "n", "config": {}, "initial_state": given})
    herder.create.assert_called_once_with("n", {}, passed_on)


def test_create_without_name_is_left_to_validation(http: httpx.Client, herder: Mock) -> None:
    herder.create.return_value = {}
    http.post("/connectors", json={"config": {}})
    herder.create.assert_called_once_with("", {}, None)


@pytest.mark.parametrize("body", [b"{}", b"null", b"", b'{"offsets": null}', b'{"offsets": []}'])
def test_offsets_are_needed(http: httpx.Client, herder: Mock, body: bytes) -> None:
    herder.alter_offsets.side_effect = NotFound("Connector n not found")
    response = http.patch("/connectors/n/offsets", content=body, headers=JSON)
    assert_error(response, 400, NO_OFFSETS)
    assert response.json()["message"] == NO_OFFSETS


@pytest.mark.parametrize(
    ("body", "fragment"),
    [
        (
            {"offset": []},
            '"offset" (class org.apache.kafka.connect.runtime.rest.entities.ConnectorO',
        ),
        ({"offsets": [{"a": 1}]}, "(2 known properties: "),
        ({"offsets": {}}, "Cannot deserialize value of type `java.util.ArrayList<"),
        ({"offsets": "x"}, "Cannot deserialize value of type `java.util.ArrayList<"),
        ({"offsets": ["x"]}, "Cannot construct instance of"),
        ({"offsets": [None]}, "Cannot construct instance of"),
        ({"offsets": [{"partition": []}]}, "Cannot deserialize value of type"),
        ({"offsets": [{"partition": {}, "offset": 5}]}, "from Integer value (token"),
        ([], "Cannot deserialize value of type"),
    ],
)
def test_wrong_offset_requests(http: httpx.Client, body: Any, fragment: str) -> None:
    assert_error(http.patch("/connectors/n/offsets", json=body), 500, fragment)


def test_offsets_keep_their_types(http: httpx.Client, herder: Mock) -> None:
    herder.alter_offsets.return_value = "done"
    given = [{"partition": {"a": 1, "b": "1"}, "offset": {"p": 2**53 + 1, "q": True}}, {}]
    http.patch("/connectors/n/offsets", json={"offsets": given})
    herder.alter_offsets.assert_called_once_with(
        "n", [given[0], {"partition": None, "offset": None}]
    )


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (BadRequest("wrong"), 400),
        (NotFound("Unknown connector n"), 404),
        (Conflict("Connector n already exists"), 409),
        (InternalError("the connector's own text"), 500),
        (Unavailable("not now"), 503),
        (UserError("fix this"), 500),
    ],
)
def test_what_the_herder_says_is_passed_on(
    http: httpx.Client, herder: Mock, error: RequestError, status: int
) -> None:
    herder.stop.side_effect = error
    response = http.put("/connectors/n/stop")
    assert response.json() == {"error_code": status, "message": str(error)}
    assert response.status_code == status


def test_defect_is_logged_and_told_in_a_line(
    http: httpx.Client, herder: Mock, caplog: pytest.LogCaptureFixture
) -> None:
    herder.stop.side_effect = KeyError("a\nb")
    with caplog.at_level(logging.ERROR):
        response = http.put("/connectors/n/stop")
    assert_error(response, 500, "Unexpected KeyError")
    assert any(record.exc_info for record in caplog.records)


def test_defect_of_an_answer_is_told_in_a_line(http: httpx.Client, herder: Mock) -> None:
    herder.info.return_value = {"not": object()}
    assert_error(http.get("/connectors/n"), 500, "Unexpected TypeError")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/connectors"),
        ("PUT", "/connectors/n/stop"),
        ("GET", "/connectors/n/offsets"),
        ("GET", "/connector-plugins"),
        ("POST", "/connectors"),
    ],
)
def test_starting_worker_answers_503(
    http: httpx.Client, herder: Mock, method: str, path: str
) -> None:
    herder.health.return_value = ("starting", "reading the stores")
    herder.root.return_value = {"version": "1"}
    response = http.request(method, path)
    assert_error(response, 503, "The worker is starting: reading the stores")
    assert http.get("/").status_code == 200


@pytest.mark.parametrize("host", ["evil.example:8083", "evil.example", "127.0.0.1.nip.io", "[:"])
def test_foreign_host_names_are_refused(http: httpx.Client, host: str) -> None:
    assert_error(http.get("/connectors", headers={"host": host}), 403, "not a name of this worker")


@pytest.mark.parametrize("host", ["localhost:8083", "LOCALHOST", "127.0.0.1", "[::1]:8083"])
def test_own_host_names_are_fine(http: httpx.Client, herder: Mock, host: str) -> None:
    herder.connectors.return_value = []
    assert http.get("/connectors", headers={"host": host}).status_code == 200


def test_a_configured_name_may_be_in_any_case(herder: Mock) -> None:
    herder.connectors.return_value = []
    own = {"host": "connect.Example:8083", "origin": "https://connect.example:8083"}
    with serving(create_app(herder, ["Connect.EXAMPLE"])) as http:
        assert http.get("/connectors", headers=own).status_code == 200


def test_other_origins_are_refused(http: httpx.Client, herder: Mock) -> None:
    herder.connectors.return_value = []
    own = f"http://{http.base_url.netloc.decode()}"
    assert http.get("/connectors", headers={"origin": own}).status_code == 200
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1", "http://["):
        response = http.post("/connectors/n/restart", headers={"origin": origin})
        assert_error(response, 403, "are not allowed")
    herder.restart.assert_not_called()
