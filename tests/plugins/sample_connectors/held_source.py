"""A scripted source whose leases can be held just before they begin.

Unpickling a lease imports this module in the Python worker, before the lease touches Kafka. While
the file named by PENSTOCK_TEST_HOLD exists, that import waits, and says so in ``<file>.held``.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import ClassVar

from penstock.sdk import SourceTask
from sample_connectors.scripted_source import ScriptedSourceConnector, ScriptedSourceTask

HOLD = os.environ.get("PENSTOCK_TEST_HOLD", "")

if HOLD and "pyspark.daemon" in sys.modules:
    while Path(HOLD).exists():
        Path(HOLD + ".held").touch()
        time.sleep(0.01)


class HeldSourceTask(ScriptedSourceTask):
    """As its parent."""


class HeldSourceConnector(ScriptedSourceConnector):
    """As its parent."""

    task_class: ClassVar[type[SourceTask]] = HeldSourceTask
