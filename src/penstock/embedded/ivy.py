"""Downloads jars with the Apache Ivy that PySpark's wheel carries."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from penstock.embedded.errors import JarsUnavailable
from penstock.embedded.java import Java
from penstock.embedded.process import WatchedProcess

Progress = Callable[[str], None]


@dataclass(frozen=True)
class JarSet:
    """Jars that belong together: an ivy.xml, its configurations, and what messages call it."""

    contents: str
    configurations: tuple[str, ...]
    ivy_xml: str
    megabytes: int


# Spark's jars are named one by one instead of following their POMs, because some mirrors lack a
# token provider's POM and Ivy then refuses the whole set.
IVY_XML = """\
<ivy-module version="2.0">
  <info organisation="penstock" module="embedded"/>
  <configurations>
    <conf name="broker"/>
    <conf name="spark"/>
  </configurations>
  <dependencies>
    <dependency org="org.apache.kafka" name="kafka_2.13" rev="4.3.1" conf="broker->default"/>
    <dependency org="org.slf4j" name="slf4j-simple" rev="1.7.36" conf="broker->default"/>
    <dependency org="org.apache.spark" name="spark-sql-kafka-0-10_2.13" rev="4.0.0"
                conf="spark->default" transitive="false"/>
    <dependency org="org.apache.spark" name="spark-token-provider-kafka-0-10_2.13" rev="4.0.0"
                conf="spark->default" transitive="false"/>
    <dependency org="org.apache.kafka" name="kafka-clients" rev="3.9.0"
                conf="spark->default" transitive="false"/>
    <dependency org="org.apache.commons" name="commons-pool2" rev="2.12.0"
                conf="spark->default" transitive="false"/>
  </dependencies>
</ivy-module>
"""
BROKER_AND_SPARK = JarSet(
    "The jars of Kafka and of Spark's Kafka connector", ("broker", "spark"), IVY_XML, megabytes=55
)

REPORT_SECONDS = 1.0
PROBLEMS = ("module not found", "Server access error", "download failed", "FAILED", "not found")


class IvyError(Exception):
    """Ivy ended with an error; the text is the part of its output that says why."""


def retrieve(jar_set: JarSet, java: Java, folder: Path, progress: Progress) -> None:
    """Put the jars of each configuration of the set into `folder/<configuration>/`.

    Ivy's own cache and log are in `folder` too. Reports about once a second. Ivy ends with this
    process, however that ends. Raises IvyError, or JarsUnavailable where PySpark is missing.
    """
    (folder / "ivy.xml").write_text(jar_set.ivy_xml)
    log = folder / "ivy.log"
    ivy = WatchedProcess(_command(jar_set, java, folder), log)
    try:
        while (code := ivy.wait(REPORT_SECONDS)) is None:
            progress(_so_far(folder / ".ivy"))
    finally:
        ivy.stop(timeout=2)
    if code != 0:
        raise IvyError(explain(log.read_text(errors="replace")))


def explain(output: str) -> str:
    """Return the first line of each kind of problem in Ivy's output, without credentials."""
    lines = [line.strip() for line in output.splitlines() if line.strip(" .\t")]
    firsts = [next((line for line in lines if kind in line), None) for kind in PROBLEMS[:2]]
    told = [line for line in firsts if line] or _any_problem(lines)
    return re.sub(r"//[^/@\s]*@", "//", "\n".join(told))


def _any_problem(lines: list[str]) -> list[str]:
    return [line for line in lines if any(kind in line for kind in PROBLEMS)][:1] or lines[-1:]


def _command(jar_set: JarSet, java: Java, folder: Path) -> list[str]:
    settings = os.environ.get("PENSTOCK_IVY_SETTINGS")
    return [
        *(str(java.path), "-jar", str(_ivy_jar())),
        *(("-settings", settings) if settings else ()),
        *("-ivy", str(folder / "ivy.xml"), "-confs", *jar_set.configurations),
        *("-retrieve", f"{folder}/[conf]/[artifact]-[revision].[ext]"),
        *("-cache", str(folder / ".ivy"), "-warn"),
    ]


def _ivy_jar() -> Path:
    spec = importlib.util.find_spec("pyspark")
    if spec is not None and spec.origin is not None:
        for jar in sorted((Path(spec.origin).parent / "jars").glob("ivy-*.jar")):
            return jar
    raise JarsUnavailable(
        "PySpark with its jars is not installed in this Python. Install it: pip install penstock"
    )


def _so_far(ivy_cache: Path) -> str:
    sizes = [path.stat().st_size for path in ivy_cache.glob("*/*/jars/*.jar")]
    if not sizes:  # Ivy reads every jar's description before it downloads the first jar.
        return f"looking up jars: {len(list(ivy_cache.glob('*/*/ivy-*.xml')))} so far"
    return f"downloading jars: {len(sizes)} so far, {sum(sizes) / 1e6:.0f} MB"
