"""All carriers of a worker: sharing, losses, blame, moves; the carriers are played."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial

import pytest

from penstock.engine.carriers import carrier as carrier_module
from penstock.engine.carriers import fleet as fleet_module
from penstock.engine.carriers import link as link_module
from penstock.engine.carriers.carrier import Cause
from penstock.engine.carriers.link import Vitals
from played_carriers import PlayedFleet
from waiting import eventually


@pytest.fixture
def played() -> Iterator[PlayedFleet]:
    played = PlayedFleet()
    yield played
    played.close()


def test_light_leases_share_one_carrier(played: PlayedFleet) -> None:
    for number in range(50):
        played.run(f"l{number}")
    eventually(lambda: len(played.progress) == 50)
    assert played.names == ["shared carrier 1"]
    for number in range(50):
        played.fleet.finish(f"l{number}")
    eventually(lambda: set(played.reports.values()) == {"finished"} and len(played.reports) == 50)
    assert played.losses == {}


def test_of_many_at_once_none_goes_where_there_is_no_room(
    played: PlayedFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A carrier does not know yet what it was just given: room is counted by who gives it."""
    monkeypatch.setattr(link_module, "Vitals", partial(Vitals, most=20))
    for number in range(50):
        played.run(f"l{number}")
    eventually(lambda: len(played.progress) == 50)
    assert sorted(len(carrier.tasks) for carrier in played.fleet.seen()) == [10, 20, 20]


def test_the_next_lease_of_a_task_goes_where_its_last_one_committed(played: PlayedFleet) -> None:
    played.run("l1", "t")
    eventually(lambda: played.holder("l1") is not None)
    played.fleet.finish("l1")
    eventually(lambda: "l1" in played.reports)
    played.run("l2", "t")
    eventually(lambda: played.holder("l2") is not None)
    assert len(played.jobs) == 1


def test_carriers_are_seen_with_what_they_run(played: PlayedFleet) -> None:
    assert played.fleet.seen() == []
    for task in ("a-0", "b-0"):
        played.run(f"lease of {task}", task)
    eventually(lambda: len(played.progress) == 2)
    [carrier] = played.fleet.seen()
    assert (carrier.name, carrier.tasks) == ("shared carrier 1", ("a-0", "b-0"))


def test_a_revoked_lease_is_told_to_nobody(played: PlayedFleet) -> None:
    played.run("l1")
    eventually(lambda: played.holder("l1") is not None)
    assert played.fleet.revoke("l1")
    assert not played.fleet.revoke("l1")
    eventually(lambda: len(played.jobs[0].carrier.holdings) == 0)
    assert (played.reports, played.losses) == ({}, {})


def test_a_death_is_lost_by_all_and_held_against_nobody_at_first(played: PlayedFleet) -> None:
    for lease in ("l1", "l2", "l3"):
        played.run(lease)
    eventually(lambda: len(played.progress) == 3)
    played.jobs[0].crash()
    assert played.losses == dict.fromkeys(("l1", "l2", "l3"), Cause.CRASHED)
    assert played.blamed == []


def test_the_last_words_of_a_process_are_why_its_carrier_ended(
    played: PlayedFleet, caplog: pytest.LogCaptureFixture
) -> None:
    played.run("l1")
    eventually(lambda: len(played.progress) == 1)
    played.jobs[0].link.last_words = "it used more than 100 MB of memory"
    played.jobs[0].crash()
    assert played.losses == {"l1": Cause.CRASHED}
    assert "it used more than 100 MB of memory" in caplog.text


def test_suspects_are_parted_until_one_has_died_alone_twice(played: PlayedFleet) -> None:
    tasks = ["a", "b", "c", "d"]
    for task in tasks:
        played.run(f"{task}0", task)
    eventually(lambda: len(played.progress) == 4)
    turn = 0
    while not played.blamed:
        lease = f"c{turn}"
        job = played.held(lease)
        with_it = [task for task in tasks if played.holder(f"{task}{turn}") is job]
        job.crash()
        turn += 1
        for task in tasks:
            if task not in with_it:
                played.fleet.revoke(f"{task}{turn - 1}")
        for task in tasks if not played.blamed else []:
            played.run(f"{task}{turn}", task)
    assert played.blamed == [f"c{turn - 1}"]
    assert turn <= 4


@pytest.mark.parametrize("cause", [Cause.EXECUTOR_LOST, Cause.SPARK_LOST])
def test_what_is_nobodys_fault_is_held_against_nobody(played: PlayedFleet, cause: Cause) -> None:
    for number in range(3):
        played.run(f"l{number}", "t")
        played.held(f"l{number}")._ended(cause, "")
    assert played.blamed == []
    assert set(played.losses.values()) == {cause}


def test_a_carrier_that_falls_silent_is_given_up(
    played: PlayedFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    played.run("l1")
    eventually(lambda: played.holder("l1") is not None)
    monkeypatch.setattr(fleet_module, "SILENT_SECONDS", -1.0)
    played.fleet.tick()
    assert played.losses == {"l1": Cause.SILENT}
    assert played.jobs[0].cancelled


def test_a_lease_that_does_not_listen_is_left_behind_by_the_others(played: PlayedFleet) -> None:
    played.run("hangs", stuck=True)
    played.run("other")
    eventually(lambda: len(played.progress) == 2)
    played.fleet.condemn("hangs")
    eventually(lambda: played.reports == {"other": "finished"})
    played.fleet.tick()
    assert played.losses == {"hangs": Cause.CONDEMNED}
    assert played.jobs[0].cancelled


def test_the_next_lease_of_a_task_waits_until_the_process_of_the_last_has_ended(
    played: PlayedFleet,
) -> None:
    """A sink's task may still write: fencing keeps it from committing, not from that."""
    played.run("hangs", "t", stuck=True)
    eventually(lambda: len(played.progress) == 1)
    played.fleet.condemn("hangs")
    played.fleet.tick()
    assert played.losses == {"hangs": Cause.CONDEMNED}
    played.run("next", "t")

    def goes_on() -> bool:
        played.fleet.tick()
        return played.holder("next") is not None

    eventually(goes_on)
    assert played.jobs[0].carrier.ended


def test_a_lease_that_only_closes_disturbs_no_other(played: PlayedFleet) -> None:
    played.run("closes", "t", stuck=True)
    played.run("other")
    eventually(lambda: len(played.progress) == 2)
    played.fleet.leave_closing("closes", 60.0)
    played.run("next", "t")
    played.fleet.tick()
    assert played.holder("next") is None, "its task may still write"
    played.jobs[0].carrier.holdings.report("closes", "closed")
    eventually(lambda: played.holder("next") is not None)
    assert (played.reports, played.losses, played.jobs[0].cancelled) == ({}, {}, False)
    assert len(played.jobs) == 1


def test_a_lease_that_does_not_close_in_time_is_left_behind(played: PlayedFleet) -> None:
    played.run("closes", stuck=True)
    played.run("other")
    eventually(lambda: len(played.progress) == 2)
    played.fleet.leave_closing("closes", -1.0)
    played.fleet.tick()
    eventually(lambda: played.reports == {"other": "finished"})
    played.fleet.tick()
    assert (played.losses, played.jobs[0].cancelled) == ({}, True)


@pytest.mark.parametrize("how", ["leave_closing", "condemn"])
def test_a_lease_that_has_reported_in_that_moment_is_held_against_no_carrier(
    played: PlayedFleet, how: str
) -> None:
    """Its report is in the book, and the fleet is about to hear of it."""
    played.run("ends")
    played.run("other")
    eventually(lambda: len(played.progress) == 2)
    carrier = played.jobs[0]
    report = {"number": 1_000, "heard": 1_000, "held": {"other": {}}, "reports": {"ends": "done"}}
    carrier.link.book.hear({**report, "asking": []})
    if how == "condemn":
        played.fleet.condemn("ends")
    else:
        played.fleet.leave_closing("ends", -1.0)
    played.fleet.tick()
    played.fleet.tick()
    assert played.fleet._carriers[carrier.link.carrier].condemned is None
    assert not carrier.cancelled


def test_a_condemned_carrier_waits_for_what_closes_in_it(played: PlayedFleet) -> None:
    played.run("closes", stuck=True)
    played.run("hangs", stuck=True)
    eventually(lambda: len(played.progress) == 2)
    played.fleet.leave_closing("closes", 60.0)
    played.fleet.condemn("hangs")
    played.fleet.tick()
    assert not played.jobs[0].cancelled
    played.jobs[0].carrier.holdings.report("closes", "closed")

    def is_cancelled() -> bool:
        played.fleet.tick()
        return played.jobs[0].cancelled

    eventually(is_cancelled)
    assert played.losses == {"hangs": Cause.CONDEMNED}


def test_at_the_end_what_closes_has_its_time(played: PlayedFleet) -> None:
    played.run("closes", stuck=True)
    eventually(lambda: len(played.progress) == 1)
    played.fleet.leave_closing("closes", 60.0)
    stopping = threading.Thread(target=played.fleet.stop)
    stopping.start()
    stopping.join(0.3)
    assert not played.jobs[0].cancelled
    played.jobs[0].carrier.holdings.report("closes", "closed")
    stopping.join(30)
    assert played.jobs[0].cancelled


def test_at_the_end_nothing_waits_for_what_does_not_close(played: PlayedFleet) -> None:
    played.run("closes", stuck=True)
    eventually(lambda: len(played.progress) == 1)
    played.fleet.leave_closing("closes", 0.2)
    played.fleet.stop()
    assert played.jobs[0].cancelled


def test_while_a_carrier_is_condemned_new_leases_go_elsewhere(played: PlayedFleet) -> None:
    played.run("hangs", stuck=True)
    eventually(lambda: len(played.progress) == 1)
    played.fleet.condemn("hangs")
    played.run("new")
    eventually(lambda: played.holder("new") is not None)
    assert played.holder("new") is not played.jobs[0]


def test_a_heavy_lease_gets_a_carrier_of_its_own_and_comes_back_when_light(
    played: PlayedFleet,
) -> None:
    played.run("heavy1", "heavy")
    played.run("light1", "light")
    eventually(lambda: len(played.progress) == 2)
    played.fleet._loads._loads["heavy"].cores = 0.9
    played.fleet.tick()
    eventually(lambda: played.reports == {"heavy1": "finished"})
    played.run("heavy2", "heavy")
    eventually(lambda: played.holder("heavy2") is not None)
    assert played.holder("heavy2") is not played.holder("light1")
    assert played.fleet.where("heavy2") == "carrier of heavy"
    played.fleet._loads._loads["heavy"].cores = 0.01
    played.fleet.tick()
    eventually(lambda: "heavy2" in played.reports)
    played.run("heavy3", "heavy")
    eventually(lambda: played.holder("heavy3") is not None)
    assert played.holder("heavy3") is played.holder("light1")


def test_what_is_empty_is_let_go_but_one_stays_warm(
    played: PlayedFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet_module, "EMPTY_SECONDS", 0.0)
    played.run("l1")
    eventually(lambda: played.holder("l1") is not None)
    played.fleet.tick()
    assert not played.jobs[0].carrier.ended
    played.fleet.finish("l1")
    eventually(lambda: "l1" in played.reports)
    played.fleet.tick()
    eventually(lambda: played.jobs[0].carrier.ended)
    assert played.losses == {}


def test_while_leases_may_come_an_empty_carrier_stays(
    played: PlayedFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet_module, "EMPTY_SECONDS", 0.0)
    played.expecting = True
    played.run("l1", "t")
    eventually(lambda: played.holder("l1") is not None)
    played.fleet.finish("l1")
    eventually(lambda: "l1" in played.reports)
    played.fleet.tick()
    played.run("l2", "t")
    assert played.held("l2") is played.jobs[0]
    played.fleet.finish("l2")
    eventually(lambda: "l2" in played.reports)
    played.expecting = False
    played.fleet.tick()
    eventually(lambda: played.jobs[0].carrier.ended)


def test_leases_are_not_bounded_by_carriers() -> None:
    played = PlayedFleet(most=1)
    for number in range(20):
        played.run(f"l{number}")
    eventually(lambda: len(played.progress) == 20)
    assert len(played.jobs) == 1
    played.close()


def test_a_lease_whose_carrier_gets_no_core_runs_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(carrier_module, "LATE_SECONDS", 0.2)
    played = PlayedFleet(cores=1)
    played.run("heavy1", "heavy")
    played.run("light1", "light")
    eventually(lambda: len(played.progress) == 2)
    played.fleet._loads._loads["heavy"].cores = 0.9
    played.fleet.tick()
    eventually(lambda: played.reports == {"heavy1": "finished"})
    played.run("heavy2", "heavy")
    assert played.fleet.waits("heavy2")

    def runs() -> bool:
        played.fleet.tick()
        return "heavy2" in played.progress

    eventually(runs)
    played.fleet.tick()
    assert played.names == ["shared carrier 1", "carrier of heavy"]
    assert (played.fleet.moves, played.fleet.waits("heavy2")) == (1, False)
    played.close()


def test_while_nothing_runs_leases_wait_for_the_first_carrier(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(carrier_module, "LATE_SECONDS", -1.0)
    played = PlayedFleet(cores=0)
    for number in range(3):
        played.run(f"l{number}")
        played.fleet.tick()
    assert played.names == ["shared carrier 1"]
    assert all(played.fleet.waits(f"l{number}") for number in range(3))
    played.close()


def test_suspects_that_crashed_twice_take_turns_in_the_only_carrier(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fleet_module, "CLEARED_SECONDS", 0.5)
    played = PlayedFleet(most=1)
    for number in range(3):
        for task in ("a", "b"):
            played.run(f"{task}{number}", task)
        if number < 2:  # after the first crash both go on at once
            played.held(f"a{number}")
            played.held(f"b{number}")
            played.jobs[number].crash()
    played.held("a2")
    assert played.holder("b2") is None

    def b_is_there() -> bool:
        played.fleet.tick()
        return played.holder("b2") is not None

    eventually(b_is_there)
    assert len(played.jobs) == 3
    played.close()
