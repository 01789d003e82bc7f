"""A herder that shows no secret, and keeps those that come back as ``[hidden]``.

It stands between the routes and the herder, so that no route can forget it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from penstock.logs.secrets import SHORTEST_ELSEWHERE, scrub
from penstock.rest.access.audit import telling_failure
from penstock.rest.access.audited_herder import changed
from penstock.rest.access.caller import current
from penstock.rest.access.herder_proxy import HerderProxy
from penstock.rest.herder_api import Config, HerderApi, Json
from penstock.runtime.errors import NotFound, RequestError
from penstock.runtime.validation.kept_secrets import has_masks, refuse_masks, with_stored
from penstock.runtime.validation.secret_keys import SecretKeys
from penstock.sdk.config import HIDDEN


class MaskedHerder(HerderProxy):
    """``herder`` with its secrets hidden; ``shows_stored``: not from known operators.

    What is not overridden here holds no config.
    """

    def __init__(self, herder: HerderApi, keys: SecretKeys, *, shows_stored: bool = False) -> None:
        super().__init__(herder)
        self._keys = keys
        self._shows_stored = shows_stored

    # What is shown.

    def info(self, name: str) -> Json:
        return self._shown_info(self._herder.info(name))

    def config(self, name: str) -> Json:
        return self._shown(self._herder.config(name))

    def tasks(self, name: str) -> list[Json]:
        tasks = self._herder.tasks(name)
        if self._revealing or not tasks:
            return tasks
        secrets = self._secrets(self._stored(name) or {})
        return [{**task, "config": self._shown_task(task["config"], secrets)} for task in tasks]

    def status(self, name: str) -> Json:
        return self._shown_status(name, self._herder.status(name))

    def restart(self, name: str, include_tasks: bool, only_failed: bool) -> Json | None:
        status = self._herder.restart(name, include_tasks, only_failed)
        return None if status is None else self._shown_status(name, status)

    def task_status(self, name: str, task: int) -> Json:
        status = self._herder.task_status(name, task)
        return _without(status, self._secrets(self._stored(name) or {}))

    def validate(self, plugin: str, config: Config) -> Json:
        filled = self._filled_for_validation(config)
        with self._scrubbed(filled):
            answer = self._herder.validate(plugin, filled)
        hidden, secrets = self._keys.of(filled), self._secrets(filled)
        infos = [_shown_value(info, hidden, secrets) for info in answer["configs"]]
        return {**answer, "configs": infos}

    # What is stored.

    def create(self, name: str, config: Config, initial_state: str | None = None) -> Json:
        with telling_failure("create", name, keys=sorted(config), initial_state=initial_state):
            refuse_masks(config)
        with self._scrubbed(config):
            return self._shown_info(self._herder.create(name, config, initial_state))

    def put_config(self, name: str, config: Config) -> tuple[bool, Json]:
        filled = self._filled(name, config) if has_masks(config) else config
        with self._scrubbed(filled):
            created, info = self._herder.put_config(name, filled)
        return created, self._shown_info(info)

    def patch_config(self, name: str, patch: Mapping[str, str | None]) -> Json:
        with telling_failure("patch config", name, keys=sorted(patch)):
            filled = self._patched(self._herder.config(name), patch)
        with self._scrubbed(filled):
            changes = {key: value for key, value in patch.items() if value != HIDDEN}
            return self._shown_info(self._herder.patch_config(name, changes))

    def alter_offsets(self, name: str, offsets: list[Json]) -> str:
        with self._scrubbed(self._stored(name) or {}):
            return self._herder.alter_offsets(name, offsets)

    def reset_offsets(self, name: str) -> str:
        with self._scrubbed(self._stored(name) or {}):
            return self._herder.reset_offsets(name)

    # How.

    @property
    def _revealing(self) -> bool:
        return self._shows_stored and current().may_see_secrets

    def _stored(self, name: str) -> Config | None:
        try:
            return self._herder.config(name)
        except NotFound:
            return None

    def _filled(self, name: str, config: Config) -> Config:
        stored = self._stored(name) or {}
        # A mask with nothing behind it is a change, and stays to be told.
        wanted = {k: stored.get(k, v) if v == HIDDEN else v for k, v in config.items()}
        with telling_failure("put config", name, keys=changed(stored, wanted)):
            return with_stored(config, stored, self._keys)

    def _patched(self, stored: Config, patch: Mapping[str, str | None]) -> Config:
        """Secrets that the patch does not mention are kept, as if it had sent them masked."""
        merged = {**(stored if self._revealing else self._keys.masked(stored)), **patch}
        sent = {key: value for key, value in merged.items() if value is not None}
        return with_stored(sent, stored, self._keys)

    def _filled_for_validation(self, config: Config) -> Config:
        """Masks that cannot be kept stay masks: to say so is left to the request that stores."""
        try:
            stored = self._stored(config.get("name") or "") if has_masks(config) else None
            return with_stored(config, stored, self._keys) if stored else config
        except RequestError:
            return config

    def _secrets(self, config: Config) -> list[str]:
        """To look for in other texts: a shorter one would hide more than it protects."""
        return [text for text in self._keys.values(config) if len(text) >= SHORTEST_ELSEWHERE]

    def _shown(self, config: Config) -> Config:
        return config if self._revealing else self._keys.masked(config)

    def _shown_info(self, info: Json) -> Json:
        return {**info, "config": self._shown(info["config"])}

    def _shown_status(self, name: str, status: Json) -> Json:
        parts = (status["connector"], *status["tasks"])
        if not any("trace" in part for part in parts):
            return status
        secrets = self._secrets(self._stored(name) or {})
        connector, *tasks = (_without(part, secrets) for part in parts)
        return {**status, "connector": connector, "tasks": tasks}

    def _shown_task(self, config: Config, secrets: list[str]) -> Config:
        """A connector may have put a secret into another value of its tasks, a URL for example."""
        masked = self._keys.masked(config)
        return {key: scrub(value or "", secrets) for key, value in masked.items()}

    @contextmanager
    def _scrubbed(self, config: Config) -> Iterator[None]:
        """No error repeats a secret of ``config``, be it a refusal, a connector's or a defect."""
        try:
            yield
        except Exception as error:
            text = scrub(str(error), self._secrets(config))
            if text != str(error):
                error.args = (text,)
            raise


def _without(status: Json, secrets: list[str]) -> Json:
    if "trace" not in status:
        return status
    return {**status, "trace": scrub(status["trace"], secrets)}


def _shown_value(info: Json, hidden: set[str], secrets: list[str]) -> Json:
    value = info["value"]
    text = HIDDEN if value["name"] in hidden and value["value"] else value["value"]
    errors = [scrub(message, secrets) for message in value["errors"]]
    return {**info, "value": {**value, "value": text, "errors": errors}}
