"""What the figures depend on: the machine and the versions, without names or paths."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

import psutil

from bench.connect_jars import VERSION
from penstock.embedded import Java

PACKAGES = ("penstock", "pyspark", "pyarrow", "confluent-kafka")


def machine_facts(java: Java) -> dict[str, str]:
    """Cores, memory, and versions of everything that takes part."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
        "Java": java.version,
        "Python": platform.python_version(),
        **{package: version(package) for package in PACKAGES},
        "Kafka and Kafka Connect": VERSION,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
