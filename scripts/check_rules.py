"""Takes each rule of the exactly-once protocol out, and checks that its test then fails.

A test that passes with and without its rule shows nothing. Each row below is a small edit of a
copy of the source that takes one rule out, and the test that must notice. `ARGS`: numbers of rules
(`1a 3 9`), none for all.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RULES = "tests/integration/rules/"


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
        "nobody is fenced",
        "kafka/transactions.py",
        "    ids = list(transactional_ids)\n",
        "    ids: list[str] = []\n",
        "test_rule_1_driver_owns_positions.py::"
        "test_an_alter_while_a_task_sleeps_inside_its_transaction",
    ),
    Mutation(
        "1b",
        "what a read_committed reader has seen is taken for the end of the offsets topic",
        "runtime/source_runner.py",
        "        self.context.offsets.log.read_to_end()\n",
        "",
        "test_rule_1_driver_owns_positions.py::"
        "test_another_connectors_open_transaction_in_the_shared_offsets_partition",
    ),
    Mutation(
        "2",
        "a transaction is as long as its lease",
        "engine/lease.py",
        "transaction_seconds: float = 1.0",
        "transaction_seconds: float = 3600.0",
        "test_rule_2_transactions_are_short.py::test_a_lease_makes_many_transactions",
    ),
    Mutation(
        "3",
        "transactions are committed without the worker's membership",
        "engine/source_lease.py",
        "        members = [lease.membership.offsets()]\n",
        "        members: list = []\n",
        "test_rule_3_membership.py::test_a_worker_frozen_for_longer_than_its_session_and_thawed",
    ),
    Mutation(
        "4",
        "a re-attempt runs as if it were the first",
        "engine/turns.py",
        "context.attemptNumber() > 0",
        "context.attemptNumber() > 99",
        "test_rule_4_reattempts.py::test_a_spark_reattempt_after_a_committed_transaction",
    ),
    Mutation(
        "5",
        "a kept producer is reused whatever happened elsewhere",
        "engine/producers.py",
        " and kept[0] == lease.previous",
        "",
        "test_rule_5_producers.py::test_a_lease_that_lands_in_another_python_worker",
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
        "engine/traces.py",
        "LeaseLost | OutcomeUnknown | BrokerUnavailable",
        "OutcomeUnknown | BrokerUnavailable",
        "test_rule_7_errors.py::test_a_fenced_lease_goes_back_to_rule_1_and_never_fails",
    ),
    Mutation(
        "8a",
        "a crash fails every task of its job",
        "runtime/runner.py",
        "            self._suspects = tasks\n",
        '            [self._fail_task(task, "ended abruptly") for task in tasks]\n',
        "test_rule_8_crashes_and_hangs.py::test_a_partition_that_calls_os_exit",
    ),
    Mutation(
        "8b",
        "a turn has no deadline",
        "runtime/scheduler.py",
        'turn.cancel("expired")',
        "pass",
        "test_rule_8_crashes_and_hangs.py::test_a_task_that_hangs",
    ),
    Mutation(
        "9",
        "expired sink positions are not restored",
        "runtime/sink_positions.py",
        "if p not in found}",
        "if p not in found and False}",
        "test_rule_9_sink_positions.py::test_group_offsets_that_the_broker_let_expire",
    ),
    Mutation(
        "sink",
        "the last record plus one is committed, not how far was read",
        "engine/topic_reader.py",
        "            self._move((signal.topic, signal.partition), signal.offset)\n",
        "            pass\n",
        "test_rule_sink_planned_end.py::test_a_range_of_only_aborted_records",
    ),
)


def main(wanted: list[str]) -> int:
    """Check the wanted rules, or all; 0 if every test noticed."""
    chosen = [m for m in MUTATIONS if not wanted or m.rule in wanted]
    unnoticed = [m.rule for m in chosen if not noticed(m)]
    print(f"{len(chosen) - len(unnoticed)} passed, {len(unnoticed)} failed")
    for rule in unnoticed:
        print(f"rule {rule} can be taken out without its test failing")
    return 1 if unnoticed else 0


def noticed(mutation: Mutation) -> bool:
    """Whether the rule's test fails without the rule."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="penstock-rule-") as folder:
        copy = Path(folder) / "src"
        shutil.copytree(
            ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
        )
        take_out(mutation, copy / "penstock" / mutation.file)
        failed = test_fails(mutation.test, copy)
    verdict = "noticed" if failed else "NOT NOTICED"
    seconds = time.monotonic() - began
    print(f"rule {mutation.rule:<5} {verdict:<12} {seconds:4.0f} s  {mutation.meaning}", flush=True)
    return failed


def take_out(mutation: Mutation, file: Path) -> None:
    """Edit the copy; an edit that no longer fits its file is an error, not a pass."""
    text = file.read_text()
    if text.count(mutation.before) != 1:
        raise SystemExit(
            f"rule {mutation.rule}: {mutation.file} no longer holds {mutation.before!r}"
        )
    file.write_text(text.replace(mutation.before, mutation.after))


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
