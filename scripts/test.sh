#!/usr/bin/env bash
# Runs the tests that are not heavy: units in two processes, then those that share one broker, worker
# and Spark session. Arguments are pytest's: a path is run as it is, and with "-k name" one of the two
# runs may find nothing to do.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

NOTHING_FOUND=5
failed=0
found=0

# run <pytest argument>...
run() {
    .venv/bin/python -m pytest -m "not heavy" "$@"
    local status=$?
    [ "$status" -eq "$NOTHING_FOUND" ] && return
    found=1
    [ "$status" -eq 0 ] || failed=$status
}

for argument in "$@"; do
    [ -e "${argument%%::*}" ] && exec .venv/bin/python -m pytest -m "not heavy" "$@"
done
run tests/unit -n 2 "$@"
[ "$failed" -eq 0 ] && run tests/contract tests/integration "$@"
[ "$found" -eq 1 ] || failed=$NOTHING_FOUND
exit "$failed"
