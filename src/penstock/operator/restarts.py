"""The annotations ``strimzi.io/restart`` and ``strimzi.io/restart-task``."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.client import ConnectClient, ConnectError
from penstock.operator.calls import explain, patiently
from penstock.operator.conditions import Condition, warning
from penstock.operator.names import RESTART, RESTART_TASK

FLAGS = {"includetasks", "onlyfailed"}


def restart(
    client: ConnectClient, name: str, annotations: Mapping[str, str]
) -> tuple[list[str], list[Condition]]:
    """Do what they ask for; those that are done, and warnings about those that are not."""
    done: list[str] = []
    warnings: list[Condition] = []
    for key, act, reason in (
        (RESTART, _restart_connector, "RestartConnector"),
        (RESTART_TASK, _restart_task, "RestartConnectorTask"),
    ):
        value = annotations.get(key)
        if value is None or value == "false":
            continue
        try:
            act(client, name, value)
        except (ConnectError, ValueError) as error:
            warnings.append(warning(reason, explain(error)))
        else:
            done.append(key)
    return done, warnings


def flags(value: str) -> tuple[bool, bool]:
    """Whether to include tasks, and whether only what has FAILED; ValueError for other words."""
    words = {word.strip().lower() for word in value.split(",")}
    if words == {"true"}:
        return False, False
    if not words or words - FLAGS:
        raise ValueError(
            f"Invalid annotation format: {RESTART}={value}. It is true, includeTasks, onlyFailed, "
            "or includeTasks,onlyFailed."
        )
    return "includetasks" in words, "onlyfailed" in words


def _restart_connector(client: ConnectClient, name: str, value: str) -> None:
    include, only_failed = flags(value)
    patiently(lambda: client.restart(name, include_tasks=include, only_failed=only_failed))


def _restart_task(client: ConnectClient, name: str, value: str) -> None:
    if not value.isdecimal():
        raise ValueError(
            f"Invalid annotation format: {RESTART_TASK}={value}. It is a task's number."
        )
    patiently(lambda: client.restart_task(name, int(value)))
