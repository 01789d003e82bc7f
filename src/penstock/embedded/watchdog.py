"""Runs a command that must not outlive this program's parent.

    python -S -E -P watchdog.py <command> [argument ...]

stdin is the lifeline: at its end of file (the parent closed it or died, even by SIGKILL) the
command gets SIGTERM, and SIGKILL eight seconds later. SIGTERM and SIGHUP to this program do the
same; SIGINT does nothing, so that Ctrl-C in a terminal leaves the order of ending to the parent.
The command's pid is the first line on stdout, which is then closed. The command runs in a new
session, reads nothing, and writes both its outputs to this program's stderr. Exits with the
command's code, or 128 + N when signal N ended it.

Imports stay few, and none are of this package: the process lives as long as the broker does.
"""

import os
import select
import signal
import sys
import time

GRACE_SECONDS = 8.0
LIFELINE = 0


def main(command: list[str]) -> int:
    signals = watch_signals()
    child = spawn(command)
    report(child)
    return guard(child, signals)


def watch_signals() -> int:
    """Return a descriptor on which each signal arrives as one byte, its number."""
    readable, writable = os.pipe()
    os.set_blocking(readable, False)
    os.set_blocking(writable, False)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return readable


def spawn(command: list[str]) -> int:
    """Return the command's pid once it has taken the place of this program's copy."""
    started, starting = os.pipe()
    child = os.fork()
    if child == 0:
        become(command)
    os.close(starting)
    os.read(started, 1)  # At its end: exec closes the copy's side.
    os.close(started)
    return child


def become(command: list[str]) -> None:
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), LIFELINE)
        os.dup2(2, 1)
        os.execvp(command[0], command)  # noqa: S606 - no shell is the point
    except OSError as failed:
        os.write(2, f"{command[0]}: {failed.strerror}\n".encode())
    finally:
        os._exit(127)


def report(child: int) -> None:
    try:
        os.write(1, f"{child}\n".encode())
        os.close(1)
    except OSError:
        pass  # The parent is gone already; the lifeline will say so.


def guard(child: int, signals: int) -> int:
    watched = [LIFELINE, signals]
    deadline: float | None = None
    while (code := exit_code(child)) is None:
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        ready = select.select(watched, [], [], left)[0]
        if LIFELINE in ready and at_end():
            watched.remove(LIFELINE)
        told = signals in ready and asked_to_end(signals)
        if deadline is None and (told or LIFELINE not in watched):
            os.kill(child, signal.SIGTERM)
            deadline = time.monotonic() + GRACE_SECONDS
        elif deadline is not None and time.monotonic() >= deadline:
            os.kill(child, signal.SIGKILL)
            deadline += GRACE_SECONDS
    return code


def exit_code(child: int) -> int | None:
    pid, status = os.waitpid(child, os.WNOHANG)
    if pid == 0:
        return None
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def at_end() -> bool:
    try:
        return os.read(LIFELINE, 4096) == b""
    except OSError:
        return True


def asked_to_end(signals: int) -> bool:
    numbers = os.read(signals, 4096)
    return signal.SIGTERM in numbers or signal.SIGHUP in numbers


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
