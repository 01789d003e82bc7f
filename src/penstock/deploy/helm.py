"""A Helm chart and a Kustomize folder from the same manifests as `penstock deploy render`."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import yaml

from penstock import __version__
from penstock.deploy.options import Options
from penstock.deploy.render import render, to_yaml

# What a user of the chart may still choose stands in the manifests under a name that is nowhere
# else in them, and becomes an expression. Everything else is as it was rendered.
NAME, NAMESPACE = "helmname", "helmnamespace"
IMAGE, GROUP, SERVERS = "helmimage", "helmgroup", "helmservers"
WORKERS = 987654321
LAST = "zz.helm.overrides=here"


def write_chart(options: Options, folder: Path) -> list[Path]:
    """Write it; its files."""
    files = {
        "Chart.yaml": yaml.safe_dump(_about(options), sort_keys=False),
        "values.yaml": yaml.safe_dump(_values(options), sort_keys=False),
        "templates/workers.yaml": _templates(options),
    }
    return _write(folder, files)


def write_kustomize(options: Options, folder: Path) -> list[Path]:
    """Write a folder that `kubectl apply -k` and overlays take; its files."""
    content = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": ["workers.yaml"],
    }
    files = {
        "kustomization.yaml": yaml.safe_dump(content, sort_keys=False),
        "workers.yaml": to_yaml(render(options)),
    }
    return _write(folder, files)


def _write(folder: Path, files: dict[str, str]) -> list[Path]:
    written = []
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        written.append(file)
    return written


def _about(options: Options) -> dict[str, str]:
    return {
        "apiVersion": "v2",
        "name": options.name,
        "description": "Penstock workers",
        "version": "0.1.0",
        "appVersion": __version__,
    }


def _values(options: Options) -> dict[str, object]:
    return {
        "workers": options.workers,
        "groupId": options.group_id,
        "bootstrapServers": options.bootstrap_servers,
        "image": options.image,
        "workerConfig": dict(options.worker_config),
    }


def _templates(options: Options) -> str:
    marked = dataclasses.replace(
        options,
        name=NAME,
        namespace=NAMESPACE,
        image=IMAGE,
        group_id=GROUP,
        bootstrap_servers=SERVERS,
        workers=WORKERS,
        worker_config={LAST.partition("=")[0]: LAST.partition("=")[2]},
    )
    text = to_yaml(render(marked))
    for mark, expression in {
        NAMESPACE: "{{ .Release.Namespace }}",
        NAME: "{{ .Release.Name }}",
        IMAGE: "{{ .Values.image }}",
        GROUP: "{{ .Values.groupId | default .Release.Name }}",
        SERVERS: '{{ required "Give bootstrapServers" .Values.bootstrapServers }}',
        str(WORKERS): "{{ .Values.workers }}",
        # Later lines win.
        f"    {LAST}": "{{- range $key, $value := .Values.workerConfig }}\n"
        "    {{ $key }}={{ $value }}\n    {{- end }}",
    }.items():
        text = text.replace(mark, expression)
    return _with_hash(text)


def _with_hash(text: str) -> str:
    """The hash of the config changes with the values, so that pods are replaced."""
    made = r"\1 {{ .Values | toJson | sha256sum | trunc 16 | quote }}"
    return re.sub(r"(penstock\.io/config-hash:) \S+", made, text)
