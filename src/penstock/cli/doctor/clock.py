"""This machine's clock, against the best witness there is."""

from __future__ import annotations

import shutil
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

import penstock
from penstock.cli.doctor.findings import Finding, ok, warning

TOLERANCE_SECONDS = 5.0
NTP_SECONDS = 2.0
ADVICE = "Set the clock, best by NTP (Linux with systemd: timedatectl set-ntp true)"


def clock_finding(data_dir: Path, ahead: float | None) -> Finding:
    """``ahead`` is what the cluster's clock is ahead of ours; None: no cluster told."""
    if ahead is None:
        return _alone(data_dir)
    if abs(ahead) > TOLERANCE_SECONDS:
        found = f"{_now()}; {_apart(-ahead)} the clock of the Kafka cluster"
        return warning("clock", found, f"{ADVICE}, here or on the brokers.")
    return ok("clock", f"{_now()}, within {TOLERANCE_SECONDS:.0f} s of the Kafka cluster's")


def _alone(data_dir: Path) -> Finding:
    """Files from the future tell of a clock that is behind; nothing here tells of one ahead."""
    file, changed = _newest(data_dir)
    behind = changed - time.time()
    if behind > TOLERANCE_SECONDS:
        found = f"{_now()}; {_apart(-behind)} the last change of {file}"
        return warning("clock", found, f"{ADVICE}.")
    return ok("clock", f"{_now()}{_ntp()}")


def _apart(seconds: float) -> str:
    return f"it is {abs(seconds):,.0f} s {'ahead of' if seconds > 0 else 'behind'}"


def _now() -> str:
    return f"{datetime.fromtimestamp(time.time(), UTC):%Y-%m-%d %H:%M:%S} UTC"


def _newest(data_dir: Path) -> tuple[Path, float]:
    """Of the files that Penstock and its Kafka write, the one that changed last."""
    written = [*data_dir.glob("*.log"), *data_dir.glob("kafka/*.*")]
    files = [Path(penstock.__file__), *(file for file in written if file.is_file())]
    return max(((file, file.stat().st_mtime) for file in files), key=lambda known: known[1])


def _ntp() -> str:
    """What the system says of its clock, where it has the means."""
    program = shutil.which("timedatectl")
    if program is None:
        return ""
    command = [program, "show", "--property=NTPSynchronized", "--value"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=NTP_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    states = {"yes": ", kept by NTP", "no": ", not kept by NTP"}
    return states.get(done.stdout.strip(), "")
