"""The surroundings of a plain PySpark session in another process."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from penstock.embedded import Java

DEFAULTS = """\
spark.master local[2]
spark.driver.memory 512m
spark.driver.host 127.0.0.1
spark.driver.bindAddress 127.0.0.1
spark.ui.enabled false
spark.ui.showConsoleProgress false
spark.local.dir {folder}
spark.sql.warehouse.dir {folder}/warehouse
"""


def plain_spark(folder: Path, java: Java, **more: str) -> dict[str, str]:
    """Its environment; Spark is small, keeps to this machine and leaves its files in ``folder``."""
    conf = folder / "conf"
    conf.mkdir(parents=True, exist_ok=True)
    (conf / "spark-defaults.conf").write_text(DEFAULTS.format(folder=folder))
    return {
        **os.environ,
        "JAVA_HOME": str(java.home),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_CONF_DIR": str(conf),
        **more,
    }
