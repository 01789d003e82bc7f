"""Commits beside which a lease goes on."""

from __future__ import annotations

import sys
import threading

import pytest

from penstock.engine.lease.commits import Commits


def test_the_lease_goes_on_while_a_commit_is_under_way() -> None:
    commits, release, done = Commits(), threading.Event(), list[str]()
    commits.begin(lambda: _wait(release), lambda: done.append("first"))
    assert done == []
    release.set()
    commits.settle()
    assert done == ["first"]
    commits.settle()
    assert done == ["first"]
    commits.close()


def test_the_next_commit_begins_after_the_one_before() -> None:
    commits, release, done = Commits(), threading.Event(), list[str]()
    commits.begin(lambda: _wait(release), lambda: done.append("first"))
    threading.Timer(0.05, release.set).start()
    commits.begin(lambda: done.append("second begins"), lambda: done.append("second"))
    commits.settle()
    assert done == ["first", "second begins", "second"]
    commits.close()


def test_an_error_comes_when_it_is_settled_and_only_once() -> None:
    commits, done = Commits(), list[str]()
    commits.begin(_fail, lambda: done.append("never"))
    with pytest.raises(OSError, match="refused"):
        commits.settle()
    commits.settle()
    assert done == []
    commits.close()


def test_a_commit_on_the_own_thread_comes_after_the_one_before() -> None:
    commits, done = Commits(), list[object]()
    commits.begin(lambda: done.append("first"), lambda: done.append("first is done"))
    commits.run(lambda: done.append(threading.current_thread()), lambda: done.append("done"))
    assert done == ["first", "first is done", threading.current_thread(), "done"]
    assert commits.ended > 0
    commits.close()


def test_an_error_on_the_own_thread_comes_at_once() -> None:
    commits, done = Commits(), list[str]()
    with pytest.raises(OSError, match="refused"):
        commits.run(_fail, lambda: done.append("never"))
    commits.settle()
    assert done == []
    commits.close()


def test_closing_waits_and_counts_what_is_in() -> None:
    commits, done = Commits(), list[str]()
    commits.begin(lambda: None, lambda: done.append("in"))
    commits.close()
    assert done == ["in"]


def test_closing_is_quiet_about_what_is_not() -> None:
    commits, done = Commits(), list[str]()
    commits.begin(_fail, lambda: done.append("never"))
    commits.close()
    assert done == []


def test_closing_is_quiet_about_a_task_that_would_end_its_thread() -> None:
    commits = Commits()
    commits.begin(lambda: None, sys.exit)
    commits.close()
    with pytest.raises(RuntimeError, match="after shutdown"):
        commits.begin(lambda: None, lambda: None)


def _wait(event: threading.Event) -> None:
    assert event.wait(20)


def _fail() -> None:
    raise OSError("refused")
