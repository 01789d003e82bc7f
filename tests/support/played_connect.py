"""Kafka Connect in memory, for what a real one cannot be made to answer on request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.client import ConnectApiError

Json = dict[str, Any]
CLASSES = {
    "org.apache.kafka.connect.file.FileStreamSourceConnector": "source",
    "org.apache.kafka.connect.file.FileStreamSinkConnector": "sink",
    "io.confluent.connect.jdbc.JdbcSourceConnector": "source",
}


class PlayedConnect:
    """Keeps connectors and what was asked of them; all but ``file`` and ``topics`` is valid."""

    def __init__(self) -> None:
        self.configs: dict[str, dict[str, str]] = {}
        self.states: dict[str, str] = {}
        self.used: dict[str, list[str]] = {}
        self.kept: dict[str, list[Json]] = {}
        self.calls: list[tuple[str, ...]] = []
        self.traces: dict[str, str] = {}

    def connectors(self) -> list[str]:
        return list(self.configs)

    def expanded(self, *parts: str) -> dict[str, Json]:
        return {n: {"info": self.info(n), "status": self.status(n)} for n in self.configs}

    def create(
        self, name: str, config: Mapping[str, Any], initial_state: str | None = None
    ) -> Json:
        if wrong := next((v for k, v in config.items() if k.endswith(".password")), None):
            raise ConnectApiError(400, f"Invalid value {wrong}")
        self.configs[name] = dict(config)
        self.states[name] = initial_state or "RUNNING"
        return self.info(name)

    def put_config(self, name: str, config: Mapping[str, Any]) -> Any:
        self.configs[name] = dict(config)

    def patch_config(self, name: str, patch: Mapping[str, Any]) -> Json:
        raise ConnectApiError(405, "HTTP 405 Method Not Allowed")

    def info(self, name: str) -> Json:
        config = self.configs[name]
        kind = CLASSES.get(config["connector.class"], "source")
        return {"name": name, "config": config, "tasks": [], "type": kind}

    def status(self, name: str) -> Json:
        state = self.states[name]
        task = {"id": 0, "state": state, "worker_id": "10.200.7.69:8083"}
        if name in self.traces:
            task |= {"state": "FAILED", "trace": self.traces[name]}
        connector = {"state": state, "worker_id": "10.200.7.69:8083"}
        return {"name": name, "connector": connector, "tasks": [task], "type": "source"}

    def metrics(self, name: str) -> Json:
        raise ConnectApiError(404, "HTTP 404 Not Found")

    def topics(self, name: str) -> list[str]:
        if name not in self.used:
            raise ConnectApiError(403, "Topic tracking is disabled.")
        return self.used[name]

    def delete(self, name: str) -> None:
        self.calls.append(("delete", name))
        del self.configs[name]

    def pause(self, name: str) -> None:
        self.calls.append(("pause", name))

    def resume(self, name: str) -> None:
        self.calls.append(("resume", name))

    def stop(self, name: str) -> None:
        self.calls.append(("stop", name))
        self.states[name] = "STOPPED"

    def restart(
        self, name: str, *, include_tasks: bool = False, only_failed: bool = False
    ) -> Json | None:
        self.calls.append(("restart", name, str(include_tasks), str(only_failed)))
        return None

    def offsets(self, name: str) -> list[Json]:
        return self.kept.get(name, [])

    def alter_offsets(self, name: str, offsets: Sequence[Mapping[str, Any]]) -> str:
        self.kept[name] = [dict(each) for each in offsets]
        return "The offsets for this connector have been altered successfully"

    def reset_offsets(self, name: str) -> str:
        self.kept[name] = []
        return "The offsets for this connector have been reset successfully"

    def plugins(self) -> list[Json]:
        return [{"class": name, "type": kind, "version": "4.0"} for name, kind in CLASSES.items()]

    def plugin_config(self, plugin: str) -> list[Json]:
        raise ConnectApiError(404, f"Unknown connector plugin {plugin}")

    def validate(self, plugin: str, config: Mapping[str, Any]) -> Json:
        known = ["connector.class", "tasks.max", "topic", "topics", "file", "name"]
        wrong = {"file": "must be a path", "topics": "must not be blank"}
        infos = [
            {
                "definition": {"name": key},
                "value": {
                    "name": key,
                    "errors": [wrong[key]] if config.get(key) == "" and key in wrong else [],
                },
            }
            for key in known
        ]
        return {"configs": infos}
