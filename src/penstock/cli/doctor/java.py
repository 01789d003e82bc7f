"""A fitting Java, and the jars that it runs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from penstock.cli.doctor.asked import Asked
from penstock.cli.doctor.findings import Finding, failed, ok, warning
from penstock.cli.doctor.folders import nearest, size, trouble
from penstock.embedded.ivy import BROKER_AND_SPARK
from penstock.embedded.jars import jars_folder, ways_to_get
from penstock.embedded.jars_check import damage, why_no_download
from penstock.embedded.java import ADVICE, MODULE, NEED, Java, Unfit, look_for_java

DOWNLOAD_SECONDS = 15.0
CACHE_BYTES = 120 * 10**6


def check(_: Asked) -> list[Finding]:
    """The Java that Penstock will use, then the jars."""
    java, unfit = look_for_java()
    return [*java_findings(java, unfit), *jar_findings(java, jars_folder())]


def java_findings(java: Java | None, unfit: list[Unfit]) -> list[Finding]:
    """The one that fits, or each that does not."""
    if java is None:
        return [failed("Java", _nothing_fits(unfit), ADVICE)]
    found = ok("Java", f"{java.version} ({java.path}), with module {MODULE}")
    return [found, *_java_home(java, unfit)]


def _nothing_fits(unfit: list[Unfit]) -> str:
    if not unfit:
        return f"none found; {NEED}"
    return "\n".join([f"none fits; {NEED}", *(f"{one.path}: {one.why}" for one in unfit)])


def _java_home(java: Java, unfit: list[Unfit]) -> list[Finding]:
    home = os.environ.get("JAVA_HOME", "")
    named = Path(home) / "bin" / "java"
    why = {one.path: one.why for one in unfit}.get(named, "there is no bin/java in it")
    if not home or (named.is_file() and named not in [one.path for one in unfit]):
        return []
    advice = f"Set JAVA_HOME to {java.home}, or unset it."
    return [warning("JAVA_HOME", f"{home} is ignored: {why}", advice)]


def jar_findings(java: Java | None, folder: Path) -> list[Finding]:
    """Whether the jars are there, or could be fetched."""
    broken = damage(folder)
    if not broken:
        return [ok("jars", f"complete ({folder})")]
    state = f"damaged: {broken} ({folder})" if folder.exists() else f"not fetched yet ({folder})"
    return [_cache_finding(folder.parent), _fetching(java, folder, state)]


def _fetching(java: Java | None, folder: Path, state: str) -> Finding:
    if java is None:
        return failed("jars", f"{state}, and no Java to fetch them with", "Fix Java first.")
    if why := why_no_download(java, DOWNLOAD_SECONDS):
        return failed("jars", f"{state}, and they cannot be downloaded\n{why}", ways_to_get(folder))
    advice = (
        f"Nothing, if this machine is online when `penstock up` first runs: it then fetches about "
        f"{BROKER_AND_SPARK.megabytes} MB. To fetch them now: python -m penstock.embedded"
    )
    return warning("jars", f"{state}; their repository answers", advice)


def _cache_finding(cache: Path) -> Finding:
    advice = "Make it writable with space for 120 MB, or set PENSTOCK_CACHE_DIR to another folder."
    if why := trouble(cache):
        return failed("jar cache", f"{cache} cannot be used: {why}", advice)
    free = shutil.disk_usage(nearest(cache)).free
    if free < CACHE_BYTES:
        return failed("jar cache", f"{size(free)} free at {cache}", advice)
    return ok("jar cache", f"{size(free)} free at {cache}")
