"""Takes each rule of the exactly-once protocol out, and checks that its test then fails.

A test that passes with and without its rule shows nothing. Each row below is a small edit of a
copy of the source that takes one rule out, and the test that must notice. Arguments: numbers of
rules (`1a 3 9`), none for all; `--some 2` for the two whose turn it is, as CI does; `--times 3` to
see that they are noticed every time.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from scripts.mutations import ROOT, edited_source

RULES = "tests/integration/rules/"
FRAMES = "../frames/test_frame_rules.py::"
FLEET = "../../unit/engine/carriers/test_fleet.py::"


@dataclass(frozen=True)
class Mutation:
    """One rule, the edit that takes it out, and the test that must fail then."""

    rule: str
    meaning: str
    file: str
    before: str
    after: str
    test: str


MUTATIONS = (
    Mutation(
        "1a",
        "no producer is fenced",
        "kafka/transactions.py",
        "    ids = list(transactional_ids)\n",
        "    ids: list[str] = []\n",
        "test_rule_1_driver_owns_positions.py::"
        "test_an_alter_while_a_task_sleeps_inside_its_transaction",
    ),
    Mutation(
        "1b",
        "what a read_committed reader has seen is taken for the end of the offsets topic",
        "runtime/running/source_runner.py",
        "        self.context.offsets.log.read_to_end()\n",
        "",
        "test_rule_1_driver_owns_positions.py::"
        "test_another_connectors_open_transaction_in_the_shared_offsets_partition",
    ),
    Mutation(
        "2",
        "a transaction is as long as its lease",
        "engine/lease/lease.py",
        "transaction_seconds: float = 1.0",
        "transaction_seconds: float = 3600.0",
        "test_rule_2_transactions_are_short.py::test_a_lease_makes_many_transactions",
    ),
    Mutation(
        "2b",
        "a transaction is as large as its source likes, whatever the link takes",
        "engine/lease/lease_loop.py",
        "            or self._queued_bytes() >= self._most_queued()\n",
        "",
        "test_rule_2_slow_links.py::"
        "test_a_source_lease_on_a_slow_link_commits_small_transactions_and_ends_when_told",
    ),
    Mutation(
        "3",
        "transactions are committed without the worker's membership",
        "engine/lease/lease_loop.py",
        "[*groups, self._used.offsets()]",
        "groups",
        "test_rule_3_membership.py::test_a_lease_of_a_worker_that_has_left_its_group_cannot_commit",
    ),
    Mutation(
        "3b",
        "a running lease keeps the membership it was given, whatever the generation",
        "engine/lease/lease_loop.py",
        "return told if told is not None and told.follows(given) else given",
        "return given",
        "test_rule_3_membership.py::test_a_running_lease_goes_on_under_a_new_generation",
    ),
    Mutation(
        "4",
        "a re-attempt runs as if it were the first",
        "engine/carriers/carrying.py",
        "context.attemptNumber() > 0",
        "context.attemptNumber() > 99",
        "test_rule_4_reattempts.py::test_a_spark_reattempt_after_a_committed_transaction",
    ),
    Mutation(
        "5",
        "a kept producer is reused whatever happened elsewhere",
        "engine/lease/producers.py",
        " and kept[0] == lease.previous",
        "",
        "test_rule_5_producers.py::test_a_lease_that_lands_in_another_process",
    ),
    Mutation(
        "6",
        "stop does not fence",
        "runtime/actions.py",
        '            self._fence(name, "Nothing was changed; try again.")\n',
        "",
        "test_rule_6_stop.py::test_stop_of_a_task_that_does_not_listen",
    ),
    Mutation(
        "7",
        "a lost lease counts as a failure of its task",
        "engine/lease/traces.py",
        "LeaseLost | OutcomeUnknown | BrokerUnavailable",
        "OutcomeUnknown | BrokerUnavailable",
        "test_rule_7_errors.py::test_a_fenced_lease_goes_back_to_rule_1_and_never_fails",
    ),
    Mutation(
        "7b",
        "a commit that is not done in time is not resumed",
        "kafka/transactions.py",
        "not fault.retriable() or not waiting.worthwhile(len(self._producer))",
        "not fault.retriable() or True",
        "test_rule_7_slow_links.py::test_a_commit_that_is_not_done_is_resumed",
    ),
    Mutation(
        "8a",
        "a crash fails every task of its carrier",
        "engine/carriers/suspicion.py",
        "[task for task in blamed if self._suspects[task].alone >= ALONE_TWICE]",
        "list(blamed)",
        "test_rule_8_crashes_and_hangs.py::test_a_partition_that_calls_os_exit",
    ),
    Mutation(
        "8b",
        "a lease has no deadline",
        "runtime/running/task_leases.py",
        "            self._engine.fleet.condemn(lease)\n\n    def waiting",
        "            pass\n\n    def waiting",
        "test_rule_8_crashes_and_hangs.py::test_a_task_that_hangs",
    ),
    Mutation(
        "8c",
        "a task goes on while the process that was given up may still write",
        "engine/carriers/fleet.py",
        "                self._ghosts.add(ticket.lease, ticket.task, carrier)\n            tasks",
        "            tasks",
        FLEET + "test_the_next_lease_of_a_task_waits_until_the_process_of_the_last_has_ended",
    ),
    Mutation(
        "9",
        "expired sink positions are not restored",
        "runtime/stores/sink_positions.py",
        "if p not in found}",
        "if p not in found and False}",
        "test_rule_9_sink_positions.py::test_group_offsets_that_the_broker_let_expire",
    ),
    Mutation(
        "10",
        "a lease begins without asking",
        "engine/lease/lease_loop.py",
        "            self._ask_before_beginning()\n",
        "",
        "test_rule_10_late_leases.py::test_a_lease_that_starts_after_it_was_fenced_touches_nothing",
    ),
    Mutation(
        "sink",
        "the last record plus one is committed, not how far was read",
        "engine/lease/topic_reader.py",
        "            self._move((signal.topic, signal.partition), signal.offset)\n",
        "            pass\n",
        "test_rule_sink_planned_end.py::test_a_range_of_only_aborted_records",
    ),
    Mutation(
        "3f",
        "a frame turn commits without the worker's membership",
        "engine/frames/task_output.py",
        "[own, lease.membership.offsets()]",
        "[own]",
        FRAMES + "test_rule_3_a_worker_that_has_left_its_group_cannot_commit",
    ),
    Mutation(
        "4f",
        "a re-attempt of a frame turn's stage produces",
        "engine/frames/last_stage.py",
        "context.attemptNumber() > 0",
        "context.attemptNumber() > 99",
        FRAMES + "test_rule_4_a_reattempt_touches_nothing",
    ),
    Mutation(
        "10f",
        "a stage of a frame turn begins without asking",
        "engine/frames/task_output.py",
        "                if not confirm():\n",
        "                if False:\n",
        FRAMES + "test_rule_10_a_task_that_starts_late_touches_nothing",
    ),
)


def main(arguments: list[str]) -> int:
    """Check the wanted rules, or all; 0 if every test noticed, every time."""
    options = parsed(arguments)
    chosen = [m for m in MUTATIONS if not options.rules or m.rule in options.rules]
    if options.some:
        chosen = in_turn(chosen, options.some, turn())
        print(f"the turn of rules {', '.join(m.rule for m in chosen)} of {len(MUTATIONS)}")
    unnoticed = [m.rule for m in chosen if not all(noticed(m) for _ in range(options.times))]
    print(f"{len(chosen) - len(unnoticed)} passed, {len(unnoticed)} failed")
    for rule in unnoticed:
        print(f"rule {rule} can be taken out without its test failing")
    return 1 if unnoticed else 0


def parsed(arguments: list[str]) -> argparse.Namespace:
    """The options; a rule that does not exist is refused."""
    parser = argparse.ArgumentParser(prog="make rules", description=__doc__)
    names = [mutation.rule for mutation in MUTATIONS]
    parser.add_argument("rules", nargs="*", metavar="RULE", help=f"of {', '.join(names)}")
    parser.add_argument("--some", type=int, default=0, help="only so many, in turn")
    parser.add_argument("--times", type=int, default=1, help="how often each must be noticed")
    options = parser.parse_args(arguments)
    if unknown := set(options.rules) - set(names):
        parser.error(f"no such rule: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    return options


def in_turn(rules: list[Mutation], some: int, turn: int) -> list[Mutation]:
    """As many as wanted; with every turn the next, and all of them within a round of turns."""
    first = turn * some
    return [rules[(first + i) % len(rules)] for i in range(min(some, len(rules)))]


def turn() -> int:
    """A number that goes up by one with every commit, and with every day."""
    counted = subprocess.run(
        ["git", "rev-list", "--count", "HEAD"],  # noqa: S607 (git is where PATH says)
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    commits = int(counted.stdout) if counted.returncode == 0 else 0
    return commits + int(time.time() // 86400)


def noticed(mutation: Mutation) -> bool:
    """Whether the rule's test fails without the rule."""
    began = time.monotonic()
    with edited_source(mutation) as copy:
        failed = test_fails(mutation.test, copy)
    verdict = "noticed" if failed else "NOT NOTICED"
    seconds = time.monotonic() - began
    print(f"rule {mutation.rule:<5} {verdict:<12} {seconds:4.0f} s  {mutation.meaning}", flush=True)
    return failed


def test_fails(test: str, source: Path) -> bool:
    """Whether the test runs and fails; an error before it runs is not a failure."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", RULES + test]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    run = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if run.returncode not in (0, 1) or " error" in run.stdout.splitlines()[-1]:
        raise SystemExit(f"the test could not be run:\n{run.stdout[-3000:]}\n{run.stderr[-2000:]}")
    return run.returncode == 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
