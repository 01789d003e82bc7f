#!/usr/bin/env python3
"""The base layer as a charm: waits for an upper layer, then deploys workers to Kubernetes.

The order is the base layer's: relations, the upper layer's `set_worker_config`, its flag
``kafka-connect-base.install`` (nothing is deployed before), workers that answer, our flag
``kafka-connect.running``, the upper layer's `register_connector`. Handlers of an upper layer are
the modules in the charm's folder ``reactive``.
"""

# ruff: noqa: E402 - what is imported is on the path that is set first

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import ops

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "lib"))

from charms import reactive

from penstock.client import layer
from penstock.client.layer_state import VARIABLE, read_state, update_state
from penstock.deploy.cluster import Deployment
from penstock.deploy.options import (
    DEFAULT_IMAGE,
    Options,
    parse_topics,
    parse_worker_config,
)
from penstock.deploy.properties import worker_properties
from penstock.deploy.record import record
from penstock.deploy.render import render
from penstock.kube import KubeApi, KubeUnavailable, load_config
from penstock.sdk.errors import PenstockError, UserError

INSTALL = "kafka-connect-base.install"
RUNNING = "kafka-connect.running"
HOSTS = ("bootstrap-server", "bootstrap_servers", "endpoints")
STATUSES = {
    "active": ops.ActiveStatus,
    "waiting": ops.WaitingStatus,
    "blocked": ops.BlockedStatus,
    "maintenance": ops.MaintenanceStatus,
}


class KafkaConnectBaseCharm(ops.CharmBase):
    """Every event leads to the same steps, each of which may be repeated."""

    def __init__(self, framework: ops.Framework) -> None:
        super().__init__(framework)
        os.environ.setdefault(VARIABLE, str(self.charm_dir / ".penstock-layer.json"))
        events = [self.on.start, self.on.config_changed, self.on.update_status]
        for relation in self.meta.requires:
            events.append(self.on[relation].relation_changed)
            events.append(self.on[relation].relation_broken)
        for event in events:
            framework.observe(event, self._reconcile)
        framework.observe(self.on.remove, self._remove)

    def _reconcile(self, _: ops.EventBase) -> None:
        try:
            self.unit.status = self._bring_about()
        except KubeUnavailable as error:
            self.unit.status = ops.WaitingStatus(str(error))
        except PenstockError as error:
            self.unit.status = ops.BlockedStatus(str(error))

    def _bring_about(self) -> ops.StatusBase:
        self._flag_relations()
        self._run_upper_layer()
        if not reactive.is_flag_set(INSTALL):
            return ops.WaitingStatus(f"waiting for the upper layer to set {INSTALL}")
        options = self._options()
        if not self._has_brokers(options):
            return ops.WaitingStatus("waiting for the relation kafka, or bootstrap.servers")
        deployed = self._deploy(options)
        if deployed is not None:
            return deployed
        reactive.set_flag(RUNNING)
        self._run_upper_layer()
        return self._told() or ops.ActiveStatus("workers are running")

    def _deploy(self, options: Options) -> ops.StatusBase | None:
        """None once the workers answer, else what to wait for."""
        api = KubeApi(load_config())
        try:
            deployment = Deployment(api, options.namespace, options.name)
            deployment.apply(render(options))
            record(options, deployment)
            answer = layer.list_connectors()
            if answer is not None and answer.status_code == 200:
                return None
            reactive.clear_flag(RUNNING)
            status = deployment.status()
            return ops.WaitingStatus(
                f"waiting for the workers to answer ({status.ready} of {status.wanted} are ready)"
            )
        finally:
            api.close()

    def _options(self) -> Options:
        config, upper = self.config, read_state()
        return Options(
            name=self.app.name,
            namespace=self.model.name,
            bootstrap_servers=self._brokers(),
            workers=int(config["workers"]),
            group_id=str(config.get("group-id") or ""),
            topics=parse_topics(str(config["topics"])),
            worker_config=parse_worker_config(str(config.get("worker-config") or "")),
            upper_config=upper.get("worker_config", {}),
            image=upper.get("image") or DEFAULT_IMAGE,
            users_secret=str(config["users-secret"]),
            tls_secret=str(config["tls-secret"]),
            credentials_secret=str(config["credentials-secret"]),
            insecure=bool(config["insecure"]),
        )

    def _brokers(self) -> str:
        """What the relation with Kafka tells, under any of the names in use."""
        for relation in self.model.relations.get("kafka", []):
            sides: list[ops.Application | ops.Unit] = [relation.app, *relation.units]
            for side in sides:
                data = relation.data[side]
                found = next((data[key] for key in HOSTS if data.get(key)), "")
                if found:
                    return found
        return ""

    @staticmethod
    def _has_brokers(options: Options) -> bool:
        try:
            return bool(worker_properties(options))
        except UserError:
            return False

    def _flag_relations(self) -> None:
        for name in self.meta.requires:
            there = any(relation.units for relation in self.model.relations.get(name, []))
            (reactive.set_flag if there else reactive.clear_flag)(f"{name}.available")

    def _run_upper_layer(self) -> None:
        reactive.forget_handlers()
        for file in sorted((self.charm_dir / "reactive").glob("*.py")):
            spec = importlib.util.spec_from_file_location(f"reactive_{file.stem}", file)
            if spec is not None and spec.loader is not None:
                spec.loader.exec_module(importlib.util.module_from_spec(spec))
        reactive.dispatch()

    @staticmethod
    def _told() -> ops.StatusBase | None:
        told = read_state().get("status")
        return STATUSES[told[0]](told[1]) if told else None

    def _remove(self, _: ops.EventBase) -> None:
        api = KubeApi(load_config())
        try:
            Deployment(api, self.model.name, self.app.name).delete()
        finally:
            api.close()
        update_state(service=None, flags=None, status=None)


if __name__ == "__main__":
    ops.main(KafkaConnectBaseCharm)
