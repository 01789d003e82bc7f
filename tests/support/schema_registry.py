"""A real schema registry: Apicurio, which answers Confluent's API too."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import httpx

from free_ports import free_port
from penstock.embedded import Java
from penstock.embedded.ivy import JarSet
from penstock.embedded.jars import ensure_folder
from penstock.embedded.process import WatchedProcess
from waiting import eventually

VERSION = "3.0.9"
SETTINGS = """\
<ivysettings><settings defaultResolver="central"/>
  <resolvers><ibiblio name="central" m2compatible="true" usepoms="false"/></resolvers>
</ivysettings>
"""
"""The archive holds all that it needs, and not every mirror has the POM of its parent."""
IVY_XML = f"""\
<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">
  <info organisation="penstock" module="schema-registry"/>
  <configurations>
    <conf name="registry"/>
  </configurations>
  <dependencies>
    <dependency org="io.apicurio" name="apicurio-registry-app" rev="{VERSION}"
                conf="registry->*" transitive="false">
      <artifact name="apicurio-registry-app" type="tar.gz" ext="tar.gz" m:classifier="all"/>
    </dependency>
  </dependencies>
</ivy-module>
"""


@contextmanager
def apicurio(folder: Path, java: Java) -> Iterator[str]:
    """Where its Confluent API is; what it stores is in its memory."""
    with tarfile.open(_archive(folder, java)) as archive:
        archive.extractall(folder, filter="data")
    port = free_port()
    options = ("-Xmx384m", "-Dquarkus.http.host=127.0.0.1", f"-Dquarkus.http.port={port}")
    runner = folder / f"apicurio-registry-app-{VERSION}-runner.jar"
    process = WatchedProcess(
        [str(java.path), *options, "-jar", str(runner)], folder / "registry.log"
    )
    url = f"http://127.0.0.1:{port}/apis/ccompat/v7"

    def answers() -> bool:
        assert process.alive(), (folder / "registry.log").read_text()[-3000:]
        try:
            return httpx.get(f"{url}/subjects", trust_env=False).status_code == 200
        except httpx.HTTPError:
            return False

    try:
        eventually(answers, within=180, what="the schema registry", every=0.2)
        yield url
    finally:
        process.stop(30)


def _archive(folder: Path, java: Java) -> Path:
    settings = folder / "ivysettings.xml"
    settings.write_text(SETTINGS)
    chosen = os.environ.get("PENSTOCK_IVY_SETTINGS") or str(settings)
    jar_set = JarSet("Apicurio's registry", ("registry",), IVY_XML, megabytes=110)
    with patch.dict(os.environ, PENSTOCK_IVY_SETTINGS=chosen):
        [archive] = (ensure_folder(jar_set, java) / "registry").iterdir()
    return archive
