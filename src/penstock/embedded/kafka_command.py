"""The command lines that prepare and run a broker."""

from __future__ import annotations

import base64
import os
import uuid
from pathlib import Path

from penstock.embedded.jars import Jars
from penstock.embedded.java import Java

# Measured on 2 busy cores, until the first answer: Serial with a small first heap took 4.8 s of
# processor time and 333 MB, Serial without 5.2 s and 384 MB, G1 5.8 s and 338 MB.
GARBAGE_COLLECTOR = ("-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError")
FIRST_HEAP, LARGEST_HEAP = "96m", "512m"
LOGGING = (
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss.SSS",
)

REGISTRATIONS = (
    "-Dorg.slf4j.simpleLogger.log.org.apache.kafka.controller.ClusterControlManager=info"
)


def format_command(java: Java, jars: Jars, settings: Path) -> list[str]:
    """Return the command that prepares a data folder, or finishes preparing it."""
    arguments = ("format", "--ignore-formatted", "-t", _cluster_id(), "-c", str(settings))
    return _java(java, jars, "-XX:TieredStopAtLevel=1", "kafka.tools.StorageTool", *arguments)


def server_command(java: Java, jars: Jars, settings: Path) -> list[str]:
    """Return the command that is the broker; PENSTOCK_BROKER_HEAP sets its largest heap."""
    return _java(java, jars, *_heap(), "kafka.Kafka", str(settings))


def controller_command(java: Java, jars: Jars, settings: Path) -> list[str]:
    """Return the command that is the controller alone, which logs what it knows of brokers."""
    return _java(java, jars, *_heap(), REGISTRATIONS, "kafka.Kafka", str(settings))


def largest_heap() -> str:
    """Return the most memory that the broker's heap may take, in Java's words."""
    return os.environ.get("PENSTOCK_BROKER_HEAP") or LARGEST_HEAP


def _java(java: Java, jars: Jars, *arguments: str) -> list[str]:
    options = (*GARBAGE_COLLECTOR, *LOGGING, "-cp", f"{jars.broker}/*")
    return [str(java.path), *options, *arguments]


def _heap() -> tuple[str, ...]:
    first = () if os.environ.get("PENSTOCK_BROKER_HEAP") else (f"-Xms{FIRST_HEAP}",)
    return (*first, f"-Xmx{largest_heap()}")


def _cluster_id() -> str:
    identity = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    # A leading dash would read as an option.
    return identity if not identity.startswith("-") else _cluster_id()
