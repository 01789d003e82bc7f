"""Watches the resources with kopf, in a way that leaves no annotations of kopf on them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Collection
from typing import Any

import kopf

from penstock.kube import KubeConfig
from penstock.operator.controller import Controller
from penstock.operator.names import GROUP, PLURALS, STORED


def watch(
    controller: Controller,
    config: KubeConfig,
    namespaces: Collection[str],
    kinds: Collection[str],
    stopped: threading.Event,
) -> None:
    """Tell ``controller`` of all resources of ``kinds`` in some namespaces, or in all (none given).

    Returns after ``stopped`` is set. Must not run in a thread that has an event loop.
    """
    registry = kopf.OperatorRegistry()
    _configure(registry, config)
    for kind in kinds:
        _listen(registry, controller, kind, PLURALS[kind])
    asyncio.run(
        kopf.operator(
            registry=registry,
            standalone=True,
            clusterwide=not namespaces,
            namespaces=list(namespaces),
            stop_flag=stopped,
        )
    )


def _configure(registry: Any, config: KubeConfig) -> None:
    @kopf.on.startup(registry=registry)
    def settle(settings: kopf.OperatorSettings, **_: Any) -> None:
        settings.posting.enabled = False
        # Else it would need to watch all CRDs and namespaces, which few are allowed to.
        settings.scanning.disabled = True
        settings.batching.error_delays = (1, 2, 5, 10, 30)

    @kopf.on.login(registry=registry)
    def login(**_: Any) -> kopf.ConnectionInfo:
        return kopf.ConnectionInfo(
            server=config.server,
            ca_data=config.ca or None,
            insecure=config.insecure,
            token=config.bearer() or None,
            certificate_data=config.certificate or None,
            private_key_data=config.key or None,
            default_namespace=config.namespace,
        )


def _listen(registry: Any, controller: Controller, kind: str, plural: str) -> None:
    @kopf.on.event(GROUP, STORED, plural, registry=registry, id=f"see-{plural}")
    async def see(type: str | None, body: kopf.Body, **_: Any) -> None:
        resource = {**body, "kind": kind}
        if type == "DELETED":
            controller.gone(resource)
        else:
            controller.changed(resource)
