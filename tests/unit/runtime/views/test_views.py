"""Statuses as the REST API shows them."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from penstock.engine.driver.session import Application
from penstock.runtime.states import State, Status
from penstock.runtime.views.views import STARTING_SPARK, Views


@pytest.mark.parametrize(
    ("application", "shown"),
    [
        (None, {}),
        (Application("local-1", None), {"spark_application_id": "local-1"}),
        (
            Application("local-1", "http://127.0.0.1:4040"),
            {"spark_application_id": "local-1", "spark_ui": "http://127.0.0.1:4040"},
        ),
    ],
)
def test_where_spark_is_seen(application: Application | None, shown: dict[str, str]) -> None:
    context = Mock()
    context.engine.session.application = application
    assert Views(context, Mock()).spark() == shown


@pytest.mark.parametrize(
    ("starting", "status", "trace"),
    [
        (True, Status(State.RUNNING, "here:8083", 1), STARTING_SPARK),
        (False, Status(State.RUNNING, "here:8083", 1), None),
        (True, Status(State.PAUSED, "here:8083", 1), None),
        (True, Status(State.RUNNING, "there:8083", 1), None),
        (True, Status(State.RUNNING, "here:8083", 1, "It waits for Kafka."), "It waits for Kafka."),
    ],
)
def test_that_spark_starts_is_said_of_what_waits_for_it(
    starting: bool, status: Status, trace: str | None
) -> None:
    context = Mock(worker_id="here:8083")
    context.engine.session.starting = starting
    context.statuses.connector.return_value = status
    context.statuses.task_ids.return_value = []
    context.configs.config.return_value = {"connector.class": "X"}
    plugins = Mock()
    plugins.connector.return_value = Mock(type="source", version="1")
    assert Views(context, plugins).status("n")["connector"].get("trace") == trace
