"""Signals end a command whichever of its threads the system gave them to."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
    import signal, sys, threading
    from penstock.cli.signals import EndingSignals, StoppingSignals

    started = threading.Event()

    def take_it() -> None:
        started.wait()
        signal.pthread_kill(threading.get_ident(), {number})

    threading.Thread(target=take_it, daemon=True).start()
    try:
        {statement}
    except KeyboardInterrupt:
        print("ended in order")
"""
STATEMENTS = {
    "ending": "with EndingSignals(): started.set(); threading.Event().wait()",
    "stopping": "with StoppingSignals() as s, s.at_once(): started.set(); sys.stdin.read()",
}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("kind", STATEMENTS)
def test_a_signal_that_another_thread_was_given_ends_the_wait(kind: str, number: int) -> None:
    program = textwrap.dedent(PROGRAM).format(number=int(number), statement=STATEMENTS[kind])
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        try:
            assert child.wait(30) == 0
        finally:
            child.kill()
        assert child.stdout is not None
        assert child.stdout.read() == "ended in order\n"


def test_everything_is_as_it_was_afterwards() -> None:
    from penstock.cli.signals import SIGNALS, WAKING, EndingSignals

    before = [signal.getsignal(number) for number in (*SIGNALS, WAKING)]
    with EndingSignals():
        assert signal.getsignal(signal.SIGTERM) != before[1]
    assert [signal.getsignal(number) for number in (*SIGNALS, WAKING)] == before
    assert signal.set_wakeup_fd(-1) == -1
