"""`penstock operator` without what it needs, and what it prints for a cluster."""

import importlib.util
from collections.abc import Callable
from typing import Any

import pytest
import yaml

Run = Callable[..., Any]


def test_without_the_extra_it_says_what_to_install(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec

    def hidden(name: str, package: str | None = None) -> Any:
        return None if name == "kopf" else found(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", hidden)
    done = run("operator")
    assert done.code == 1
    assert 'pip install "penstock[operator]"' in done.err


def test_without_a_cluster_it_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/nowhere/config")
    done = run("operator")
    assert done.code == 1
    assert "Set KUBECONFIG" in done.err


def test_the_kinds_can_be_printed_alone(run: Run) -> None:
    printed = list(yaml.safe_load_all(run("operator", "manifests", "--crds").out))
    names = [crd["spec"]["names"]["kind"] for crd in printed]
    assert names == ["KafkaConnector", "KafkaConnectorOffsets", "KafkaConnect"]
    for crd in printed:
        versions = {v["name"]: v for v in crd["spec"]["versions"]}
        assert set(versions) == {"v1beta2", "v1"}
        assert versions["v1"]["schema"] == versions["v1beta2"]["schema"]
        assert all(version["served"] for version in versions.values())
