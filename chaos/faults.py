"""How each kind of fault is brought about, and undone again."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from typing import Any

import psutil

from chaos.checker import Jump
from chaos.contents import FILE
from chaos.ground import Ground
from chaos.load import LINE_BYTES, SOURCES, number_of
from chaos.plan import Fault
from chaos.records import partition_key
from chaos.tcp_proxy import TcpProxy
from chaos.worker import Worker, frozen

Strike = Callable[[Ground, Fault], str]
"""Returns when it is undone; its answer is what the product did wrong meanwhile, if anything."""

FIND_SECONDS = 10.0


class NothingThere(Exception):  # noqa: N818 - named for what is the case
    """There is no such process just now: nothing was done."""


def strike(ground: Ground, fault: Fault) -> str:
    """Wait for its moment, let it happen, undo it; what the product did wrong, if anything."""
    time.sleep(fault.delay)
    return STRIKES[fault.kind](ground, fault)


def _worker_kill(ground: Ground, fault: Fault) -> str:
    worker = _worker(ground, fault)
    wrong = worker.kill()
    time.sleep(fault.seconds)
    worker.start()
    return wrong


def _worker_term(ground: Ground, fault: Fault) -> str:
    worker = _worker(ground, fault)
    wrong = worker.terminate()
    time.sleep(fault.seconds)
    worker.start()
    return wrong


def _worker_freeze(ground: Ground, fault: Fault) -> str:
    _worker(ground, fault).freeze(fault.seconds)
    return ""


def _python_kill(ground: Ground, fault: Fault) -> str:
    return _kill_all([_one_python(ground, fault)])


def _python_freeze(ground: Ground, fault: Fault) -> str:
    frozen([_one_python(ground, fault)], fault.seconds)
    return ""


def _jvm_kill(ground: Ground, fault: Fault) -> str:
    return _kill_all(_found(_worker(ground, fault).jvms))


def _jvm_freeze(ground: Ground, fault: Fault) -> str:
    frozen([*_found(_worker(ground, fault).jvms)], fault.seconds)
    return ""


def _broker_kill(ground: Ground, fault: Fault) -> str:
    ground.broker.crash(fault.seconds)
    return ""


def _broker_freeze(ground: Ground, fault: Fault) -> str:
    ground.broker.freeze(fault.seconds)
    return ""


def _quota(ground: Ground, fault: Fault) -> str:
    ground.broker.slow_down(fault.amount)
    time.sleep(fault.seconds)
    ground.broker.slow_down(None)
    return ""


def _link_cut(ground: Ground, fault: Fault) -> str:
    _link(ground, fault).cut()
    return ""


def _link_down(ground: Ground, fault: Fault) -> str:
    with _link(ground, fault).down():
        time.sleep(fault.seconds)
    return ""


def _link_stall(ground: Ground, fault: Fault) -> str:
    with _link(ground, fault).stalled():
        time.sleep(fault.seconds)
    return ""


def _pause(ground: Ground, fault: Fault) -> str:
    ground.cluster.ask(f"to pause {fault.target}", lambda client: client.pause(fault.target))
    time.sleep(fault.seconds)
    ground.cluster.resume(fault.target)
    return ""


def _stop(ground: Ground, fault: Fault) -> str:
    ground.cluster.stop(fault.target)
    time.sleep(fault.seconds)
    ground.cluster.resume(fault.target)
    return ""


def _restart(ground: Ground, fault: Fault) -> str:
    name = fault.target
    ground.cluster.ask(f"to restart {name}", lambda c: c.restart(name, include_tasks=True) or True)
    return ""


def _config(ground: Ground, fault: Fault) -> str:
    name = fault.target
    patch = {"chaos.note": str(fault.amount)}
    if name in {each.name for each in SOURCES}:
        # Sinks that share a file are not exactly once, and a file source needs but one task.
        patch["tasks.max"] = str(1 + fault.amount % 3)
    ground.cluster.ask(f"to change {name}", lambda client: client.patch_config(name, patch))
    return ""


def _alter_source(ground: Ground, fault: Fault) -> str:
    def back(entry: dict[str, Any]) -> tuple[str, dict[str, Any], Jump]:
        at = number_of(entry["offset"]["position"])
        to = max(0, at - fault.amount)
        return FILE, {**entry["offset"], "position": to * LINE_BYTES}, Jump(at, to)

    return _alter(ground, fault.target, back)


def _alter_sink(ground: Ground, fault: Fault) -> str:
    def back(entry: dict[str, Any]) -> tuple[str, dict[str, Any], Jump]:
        place = entry["partition"]
        at = entry["offset"]["kafka_offset"]
        to = max(0, at - fault.amount)
        key = partition_key(place["kafka_topic"], place["kafka_partition"])
        return key, {"kafka_offset": to}, Jump(at, to)

    return _alter(ground, fault.target, back)


def _alter(
    ground: Ground, name: str, back: Callable[[dict[str, Any]], tuple[str, dict[str, Any], Jump]]
) -> str:
    """Move the connector's first partition back while it is stopped, and take note of that."""
    ground.cluster.stop(name)
    if offsets := ground.cluster.offsets(name):
        entry = offsets[0]
        key, offset, jump = back(entry)
        ground.cluster.alter(name, {"partition": entry["partition"], "offset": offset})
        ground.alterations.add(name, key, jump)
    ground.cluster.resume(name)
    return ""


def _worker(ground: Ground, fault: Fault) -> Worker:
    return next(each for each in ground.workers if each.name == fault.target)


def _link(ground: Ground, fault: Fault) -> TcpProxy:
    return ground.broker.links[ground.workers.index(_worker(ground, fault))]


def _found(look: Callable[[], list[psutil.Process]]) -> list[psutil.Process]:
    """The processes; NothingThere where there are none for a while, as in a worker that is down."""
    deadline = time.monotonic() + FIND_SECONDS
    while not (found := look()):
        if time.monotonic() > deadline:
            raise NothingThere
        time.sleep(0.2)
    return found


def _one_python(ground: Ground, fault: Fault) -> psutil.Process:
    found = _found(_worker(ground, fault).python_workers)
    return found[fault.amount % len(found)]


def _kill_all(processes: list[psutil.Process]) -> str:
    for each in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            each.kill()
    return ""


STRIKES: Mapping[str, Strike] = {
    "worker-kill": _worker_kill,
    "worker-freeze": _worker_freeze,
    "worker-term": _worker_term,
    "python-kill": _python_kill,
    "python-freeze": _python_freeze,
    "jvm-kill": _jvm_kill,
    "jvm-freeze": _jvm_freeze,
    "broker-kill": _broker_kill,
    "broker-freeze": _broker_freeze,
    "link-cut": _link_cut,
    "link-down": _link_down,
    "link-stall": _link_stall,
    "quota": _quota,
    "pause": _pause,
    "stop": _stop,
    "restart": _restart,
    "config": _config,
    "alter-source": _alter_source,
    "alter-sink": _alter_sink,
}
