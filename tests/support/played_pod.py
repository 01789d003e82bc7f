"""What a kubelet would do with a rendered pod: mount its volumes, set its environment, start it.

Paths of the pod are folders below one of the test's; its command is the rendered one, with those
paths in it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Json = dict[str, Any]


class PlayedPod:
    """The first container of a pod of ``workload``; ``secrets`` hold files by Secret and key."""

    def __init__(
        self,
        folder: Path,
        workload: Json,
        config_map: Json,
        secrets: Mapping[str, Mapping[str, str]],
    ) -> None:
        self._folder = folder
        self._pod: Json = workload["spec"]["template"]["spec"]
        self._container: Json = self._pod["containers"][0]
        self._name = f"{workload['metadata']['name']}-0"
        self._config, self._secrets = config_map["data"], secrets
        self._process: subprocess.Popen[bytes] | None = None
        self.log = folder / "pod.log"

    def start(self) -> None:
        """Start its command."""
        for mount in self._container["volumeMounts"]:
            self._mount(mount)
        shell, flag, script = self._container["command"]
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [shell, flag, self._inside(script)], stdout=log, stderr=log, env=self._environment()
            )

    def probe(self) -> Json:
        """The readiness probe, as the manifest has it."""
        found: Json = self._container["readinessProbe"]["httpGet"]
        return found

    def running(self) -> bool:
        """AssertionError, with what it said, once it has ended."""
        assert self._process is not None
        assert self._process.poll() is None, self.log.read_text()
        return True

    def stop(self) -> int:
        """SIGTERM, as a kubelet sends it first; its exit code within the grace that it has."""
        if self._process is None:
            return 0
        self._process.terminate()
        return self._process.wait(float(self._pod["terminationGracePeriodSeconds"]))

    def close(self) -> None:
        """Make sure that it has ended."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait(20)

    def _mount(self, mount: Json) -> None:
        place = Path(self._inside(mount["mountPath"]))
        place.mkdir(parents=True, exist_ok=True)
        volume = next(v for v in self._pod["volumes"] if v["name"] == mount["name"])
        files: Mapping[str, str] = {}
        if "configMap" in volume:
            files = self._config
        elif "secret" in volume:
            files = self._secrets[volume["secret"]["secretName"]]
        for name, text in files.items():
            (place / name).write_text(self._inside(text))
            (place / name).chmod(0o600)

    def _inside(self, text: str) -> str:
        for mount in self._container["volumeMounts"]:
            path = mount["mountPath"]
            text = text.replace(f"{path}/", f"{self._folder}{path}/")
            text = text if text != path else f"{self._folder}{path}"
            text = text.replace(f"--data-dir {path}", f"--data-dir {self._folder}{path}")
        return text

    def _environment(self) -> dict[str, str]:
        fields = {"metadata.name": self._name, "status.podIP": "127.0.0.1"}
        own = {
            entry["name"]: self._inside(entry["value"])
            if "value" in entry
            else fields[entry["valueFrom"]["fieldRef"]["fieldPath"]]
            for entry in self._container["env"]
        }
        # Jars and Python are the image's; everything else of home is the pod's own.
        own.pop("HOME")
        return {**os.environ, **own, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
