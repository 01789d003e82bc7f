"""The jars of real Kafka Connect, fetched as the broker's are."""

from __future__ import annotations

from pathlib import Path

from penstock.embedded import Java
from penstock.embedded.ivy import JarSet, Progress
from penstock.embedded.jars import ensure_folder

VERSION = "4.3.1"
MODULES = ("connect-runtime", "connect-file", "connect-json", "connect-transforms")
CONFIGURATION = "connect"

_DEPENDENCIES = "\n".join(
    f'    <dependency org="org.apache.kafka" name="{module}" rev="{VERSION}" '
    f'conf="{CONFIGURATION}->default"/>'
    for module in MODULES
)
IVY_XML = f"""\
<ivy-module version="2.0">
  <info organisation="penstock" module="bench"/>
  <configurations>
    <conf name="{CONFIGURATION}"/>
  </configurations>
  <dependencies>
{_DEPENDENCIES}
  </dependencies>
</ivy-module>
"""
KAFKA_CONNECT = JarSet("The jars of Kafka Connect", (CONFIGURATION,), IVY_XML, megabytes=35)


def ensure_connect_jars(java: Java, progress: Progress) -> Path:
    """Return the folder of Kafka Connect's jars, downloading them first where they are missing."""
    return ensure_folder(KAFKA_CONNECT, java, progress) / CONFIGURATION
