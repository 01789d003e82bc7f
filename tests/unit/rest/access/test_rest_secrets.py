"""Secrets: hidden wherever a config or an error is shown, and kept when they come back hidden."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock, create_autospec

import httpx
import pytest

from config_herder import config_herder
from penstock.columnar.plain_converters import StringConverter
from penstock.columnar.predicates import RecordIsTombstone
from penstock.config.providers import AllowedPaths, FileProvider
from penstock.config.references import Providers
from penstock.rest import create_app
from penstock.rest.access import masked_herder
from penstock.rest.access.protection import Protection
from penstock.rest.herder_api import HerderApi, OwnApi
from penstock.runtime.config.rest_config import RestConfig
from penstock.runtime.errors import BadRequest
from penstock.runtime.plugins import Plugin, Plugins
from penstock.runtime.validation.kept_secrets import with_stored
from penstock.runtime.validation.secret_keys import SecretKeys
from penstock.sdk.config import HIDDEN, ConfigDef, ConfigKey, Type
from served_app import serving

SECRET = "hunter2-and-more"
CONFIG = {
    "name": "n",
    "connector.class": "ScriptedSource",
    "topic": "t",
    "password": SECRET,
    "vendor.url": "https://db.example/",
    "vendor.api.token": SECRET,
    "vendor.token.ttl": "60",
}
SHOWN = {**CONFIG, "password": HIDDEN, "vendor.api.token": HIDDEN}
REFERENCE = "${file:/run/secrets/db:password}"
FILES = Providers({"file": FileProvider(AllowedPaths(("/run/secrets",)))})
WITH_FILES = Protection.of(RestConfig(), FILES)


@pytest.fixture
def herder() -> Mock:
    return config_herder(n=CONFIG)


@pytest.fixture
def http(herder: Mock) -> Iterator[httpx.Client]:
    with serving(create_app(herder)) as client:
        yield client


def stored(herder: Mock) -> dict[str, Any]:
    found: dict[str, Any] = herder.stored["n"]
    return found


# Shown.


def test_config_info_and_list(http: httpx.Client) -> None:
    assert http.get("/connectors/n/config").json() == SHOWN
    assert http.get("/connectors/n").json()["config"] == SHOWN
    listed = http.get("/connectors", params={"expand": "info"}).json()
    assert listed["n"]["info"]["config"] == SHOWN


def test_tasks_also_where_a_secret_is_a_part_of_another_value(
    http: httpx.Client, herder: Mock
) -> None:
    config = {**CONFIG, "vendor.login": f"me:{SECRET}@db", "task.class": "x.Y"}
    herder.tasks.return_value = [{"id": {"connector": "n", "task": 0}, "config": config}]
    (task,) = http.get("/connectors/n/tasks").json()
    assert task["config"] == {**SHOWN, "vendor.login": f"me:{HIDDEN}@db", "task.class": "x.Y"}


def test_answers_to_changes(http: httpx.Client, herder: Mock) -> None:
    created = http.post("/connectors", json={"name": "m", "config": {**CONFIG, "name": "m"}})
    answers = [
        created,
        http.put("/connectors/n/config", json={**CONFIG, "count": "5"}),
        http.patch("/connectors/n/config", json={"count": "6"}),
    ]
    assert [answer.status_code for answer in answers] == [201, 200, 200]
    assert all(SECRET not in answer.text and HIDDEN in answer.text for answer in answers)
    assert herder.stored["m"]["password"] == SECRET


@pytest.mark.parametrize(
    ("method", "request_line", "body"),
    [
        ("create", "POST /connectors", {"name": "m", "config": CONFIG}),
        ("put_config", "PUT /connectors/n/config", CONFIG),
        ("patch_config", "PATCH /connectors/n/config", {"topic": "u"}),
        ("validate", "PUT /connector-plugins/ScriptedSource/config/validate", CONFIG),
        ("alter_offsets", "PATCH /connectors/n/offsets", {"offsets": [{}]}),
        ("reset_offsets", "DELETE /connectors/n/offsets", None),
    ],
)
@pytest.mark.parametrize("kind", [BadRequest, ValueError])
def test_errors(
    http: httpx.Client,
    herder: Mock,
    *,
    method: str,
    request_line: str,
    body: Any,
    kind: type[Exception],
) -> None:
    """Refusals, and defects of a connector."""
    getattr(herder, method).side_effect = kind(f"cannot log in with {SECRET}, said the db")
    answer = http.request(*request_line.split(), json=body)
    assert answer.status_code == (400 if kind is BadRequest else 500)
    assert f"cannot log in with {HIDDEN}, said the db" in answer.json()["message"]


def test_validation(http: httpx.Client, herder: Mock) -> None:
    def value(name: str, text: str, *errors: str) -> dict[str, Any]:
        return {"definition": None, "value": {"name": name, "value": text, "errors": list(errors)}}

    herder.validate.return_value = {
        "name": "ScriptedSource",
        "error_count": 1,
        "configs": [value("vendor.api.token", SECRET), value("topic", "t", f"{SECRET} is no good")],
    }
    answer = http.put("/connector-plugins/ScriptedSource/config/validate", json=CONFIG)
    assert answer.status_code == 200
    assert SECRET not in answer.text
    values = [info["value"] for info in answer.json()["configs"]]
    assert values[0]["value"] == HIDDEN
    assert values[1] == {"name": "topic", "value": "t", "errors": [f"{HIDDEN} is no good"]}


def test_traces(http: httpx.Client, herder: Mock) -> None:
    trace = f"KeyError: {SECRET}"
    part = {"state": "FAILED", "worker_id": "w", "trace": trace}
    herder.status.return_value = {"name": "n", "connector": part, "tasks": [{"id": 0, **part}]}
    herder.restart.return_value = herder.status.return_value
    herder.task_status.return_value = {"id": 0, **part}
    for method, path in (("GET", "status"), ("GET", "tasks/0/status"), ("POST", "restart")):
        answer = http.request(method, f"/connectors/n/{path}").text
        assert SECRET not in answer
        assert f"KeyError: {HIDDEN}" in answer


@pytest.mark.parametrize("value", [REFERENCE, f" {REFERENCE}{REFERENCE}", ""])
def test_references_are_no_secrets(herder: Mock, value: str) -> None:
    herder.stored["n"]["password"] = value
    with serving(create_app(herder, protection=WITH_FILES)) as http:
        assert http.get("/connectors/n/config").json()["password"] == value


@pytest.mark.parametrize(
    "value",
    [f'username="{REFERENCE}" password="{SECRET}";', "${a:b}", f"{SECRET}${{a:b}}", "x${file:y"],
)
def test_a_reference_makes_no_secret_of_the_text_beside_it_known(herder: Mock, value: str) -> None:
    """Nor is anything one that names no provider of the worker."""
    herder.stored["n"]["password"] = value
    with serving(create_app(herder, protection=WITH_FILES)) as http:
        shown = http.get("/connectors/n/config").json()
        assert shown["password"] == HIDDEN
        assert http.put("/connectors/n/config", json=shown).status_code == 200
    assert stored(herder)["password"] == value


def test_without_providers_there_are_no_references(http: httpx.Client, herder: Mock) -> None:
    herder.stored["n"]["password"] = REFERENCE
    assert http.get("/connectors/n/config").json()["password"] == HIDDEN


def test_errors_with_a_value_whose_reference_was_resolved(herder: Mock) -> None:
    herder.stored["n"]["password"] = f'user="{REFERENCE}" password="{SECRET}";'
    herder.reset_offsets.side_effect = BadRequest(f'no login: user="ann" password="{SECRET}";')
    with serving(create_app(herder, protection=WITH_FILES)) as http:
        assert SECRET not in http.delete("/connectors/n/offsets").text


class _Keyed:
    config_def = ConfigDef(ConfigKey("pin", Type.PASSWORD, default=""))


class KeyedConverter(_Keyed, StringConverter):
    pass


class KeyedPredicate(_Keyed, RecordIsTombstone):
    pass


def test_passwords_of_header_converters_and_predicates(monkeypatch: pytest.MonkeyPatch) -> None:
    plugins = Plugins()
    monkeypatch.setattr(plugins, "converters", [Plugin(KeyedConverter)])
    monkeypatch.setattr(plugins, "predicates", [Plugin(KeyedPredicate)])
    config = {
        "connector.class": "ScriptedSource",
        "header.converter": f"{__name__}.KeyedConverter",
        "header.converter.pin": "1234",
        "predicates": "p",
        "predicates.p.type": f"{__name__}.KeyedPredicate",
        "predicates.p.pin": "5678",
    }
    assert SecretKeys(plugins).of(config) == {"header.converter.pin", "predicates.p.pin"}


@pytest.mark.parametrize(
    ("key", "hidden"),
    [
        ("producer.override.sasl.jaas.config", True),
        ("aws.secretAccessKey", True),
        ("db.privateKey", True),
        ("ssl.keystore.password", True),
        ("ssl.keystore.location", False),
        ("key.converter.schemas.enable", False),
        ("token.endpoint.url", False),
        ("monkey", False),
        ("primary.key", False),
    ],
)
def test_keys_that_nobody_describes_go_by_their_name(
    http: httpx.Client, herder: Mock, key: str, hidden: bool
) -> None:
    herder.stored["n"] = {"connector.class": "not.Installed", key: "value"}
    assert http.get("/connectors/n/config").json()[key] == (HIDDEN if hidden else "value")


# Sent back.


def test_an_unchanged_mask_keeps_the_stored_value(http: httpx.Client, herder: Mock) -> None:
    answer = http.put("/connectors/n/config", json={**SHOWN, "count": "7"})
    assert answer.status_code == 200
    assert stored(herder) == {**CONFIG, "count": "7"}
    assert http.patch("/connectors/n/config", json={"password": HIDDEN}).status_code == 200
    assert stored(herder) == {**CONFIG, "count": "7"}


def test_a_new_value_replaces_the_stored_one(http: httpx.Client, herder: Mock) -> None:
    assert http.put("/connectors/n/config", json={**SHOWN, "password": "new"}).status_code == 200
    assert stored(herder) == {**CONFIG, "password": "new"}


def test_a_create_with_a_mask_is_refused(http: httpx.Client, herder: Mock) -> None:
    answers = [
        http.post("/connectors", json={"name": "m", "config": SHOWN}),
        http.put("/connectors/m/config", json={**SHOWN, "name": "m"}),
        http.put("/connectors/n/config", json={**CONFIG, "other.password": HIDDEN}),
        http.patch("/connectors/n/config", json={"other.password": HIDDEN}),
    ]
    assert [answer.status_code for answer in answers] == [400] * 4
    assert all("Send the value itself in place of [hidden]" in a.text for a in answers)
    assert herder.stored == {"n": CONFIG}


@pytest.mark.parametrize(
    "change",
    [
        {"vendor.url": "https://evil.example/"},
        {"vendor.host": "evil.example"},
        {"vendor.url": None},
        {"connector.class": "FileStreamSource"},
    ],
)
def test_a_kept_secret_goes_to_no_other_place(
    http: httpx.Client, herder: Mock, change: dict[str, str | None]
) -> None:
    merged = {key: value for key, value in {**SHOWN, **change}.items() if value is not None}
    put = http.put("/connectors/n/config", json=merged)
    patch = http.patch("/connectors/n/config", json=change)
    for answer in (put, patch):
        assert answer.status_code == 400
        assert SECRET not in answer.text
        assert "Send the value itself" in answer.json()["message"]
    assert stored(herder) == CONFIG
    secrets = {"password": "p", "vendor.api.token": "t"}
    assert http.patch("/connectors/n/config", json={**change, **secrets}).status_code == 200


def test_a_kept_secret_does_not_come_to_light() -> None:
    """Where another transform, say, no longer calls it a secret, it has to be sent again."""
    keys = create_autospec(SecretKeys, instance=True)
    keys.of.side_effect = lambda config: {"pin"} if config["transforms"] == "cipher" else set()
    before = {"transforms": "cipher", "pin": "1234"}
    assert with_stored({"transforms": "cipher", "pin": HIDDEN}, before, keys) == before
    with pytest.raises(BadRequest, match=r"pin would no longer be a secret. Send the value itself"):
        with_stored({"transforms": "", "pin": HIDDEN}, before, keys)


def test_validation_of_a_config_with_masks_is_that_of_the_stored_values(
    http: httpx.Client, herder: Mock
) -> None:
    herder.validate.return_value = {"name": "x", "configs": []}
    url = "/connector-plugins/ScriptedSource/config/validate"
    assert http.put(url, json=SHOWN).status_code == 200
    assert herder.validate.call_args.args[1] == CONFIG
    moved = {**SHOWN, "vendor.url": "https://evil.example/"}
    assert http.put(url, json=moved).status_code == 200
    assert herder.validate.call_args.args[1] == moved


def test_plugins_are_looked_at_once_for_a_class_and_not_for_each_connector(
    herder: Mock, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[object] = []
    describe = SecretKeys._describe

    def counted(self: SecretKeys, classes: Any) -> Any:
        looked_at.append(classes)
        return describe(self, classes)

    monkeypatch.setattr(SecretKeys, "_describe", counted)
    herder.stored.update({f"c{i}": CONFIG for i in range(500)})
    with serving(create_app(herder)) as http:
        assert len(http.get("/connectors", params={"expand": "info"}).json()) == 501
    assert len(looked_at) == 1


def test_every_answer_that_may_hold_a_config_is_masked() -> None:
    """A method that is new to the herder holds no config, or has to be masked."""
    holds_none = {
        "root",
        "health",
        "loggers",
        "logger",
        "set_logger_level",
        "connectors",
        "topics",
        "reset_topics",
        "delete",
        "pause",
        "resume",
        "stop",
        "restart_task",
        "offsets",
        "plugins",
        "plugin_config",
        "metrics",
        "metrics_text",
        "plan",
        "verified",
        "forward",
        "do_as_told",
        "take_tasks",
        "set_cluster_logger_level",
    }
    known = {name for name in (*vars(OwnApi), *vars(HerderApi)) if not name.startswith("_")}
    masked = {name for name in vars(masked_herder.MaskedHerder) if not name.startswith("_")}
    assert known == masked | holds_none
