"""Kubeconfig files, as kubectl takes them."""

import base64
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from penstock.kube import KubeUnavailable, load_config


def write(folder: Path, user: dict[str, Any], **context: str) -> str:
    cluster = {"server": "https://k:6443/", "certificate-authority": "ca.pem"}
    content = {
        "current-context": "here",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u", **context}}],
    }
    (folder / "ca.pem").write_bytes(b"the authority")
    file = folder / "config"
    file.write_text(yaml.safe_dump(content))
    return str(file)


def test_files_are_found_beside_it_and_data_is_decoded(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("renewed\n")
    certificate = base64.b64encode(b"mine").decode()
    user = {"client-certificate-data": certificate, "tokenFile": "token"}
    config = load_config(write(tmp_path, user, namespace="ns"))
    assert config.server == "https://k:6443"
    assert config.namespace == "ns"
    assert config.ca == b"the authority"
    assert config.certificate == b"mine"
    assert config.bearer() == "renewed"
    (tmp_path / "token").write_text("renewed again")
    assert config.bearer() == "renewed again"


def test_the_environment_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", write(tmp_path, {"token": "t"}))
    assert load_config().bearer() == "t"
    assert load_config().namespace == "default"
    assert "token='t'" not in repr(load_config())


def test_a_credential_program_is_run(tmp_path: Path) -> None:
    answer = {"status": {"token": "from a program", "clientCertificateData": "pem"}}
    script = f"import os; assert os.environ['A'] == 'b'; print({json.dumps(answer)!r})"
    wanted = {
        "command": sys.executable,
        "args": ["-c", script],
        "env": [{"name": "A", "value": "b"}],
    }
    config = load_config(write(tmp_path, {"exec": wanted}))
    assert config.bearer() == "from a program"
    assert config.certificate == b"pem"


def test_what_is_wrong_is_told(tmp_path: Path) -> None:
    with pytest.raises(KubeUnavailable, match="Set KUBECONFIG"):
        load_config(str(tmp_path / "none"))
    with pytest.raises(KubeUnavailable, match="context 'else' is incomplete"):
        load_config(write(tmp_path, {}), context="else")
    with pytest.raises(KubeUnavailable, match="credential program nowhere-to-be-found"):
        load_config(write(tmp_path, {"exec": {"command": "nowhere-to-be-found"}}))
    broken = tmp_path / "broken"
    broken.write_text("a: [")
    with pytest.raises(KubeUnavailable, match="is not YAML"):
        load_config(str(broken))
