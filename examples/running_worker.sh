# Sourced by the examples in shell: a worker around the script, unless one runs already.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -z "${EXAMPLES_FOLDER:-}" ]; then
    exec "${PYTHON:-$here/../.venv/bin/python}" "$here/running_worker.py" bash "$0"
fi

# show <command>...: print a command, then run it
show() {
    printf '\n$ %s\n' "$*"
    "$@"
}

# eventually <command>...: wait until it succeeds, for a minute at most
eventually() {
    local deadline=$((SECONDS + 60))
    until "$@"; do
        [ "$SECONDS" -lt "$deadline" ] || { echo "Timed out after a minute: $*" >&2; return 1; }
        sleep 0.2
    done
}
