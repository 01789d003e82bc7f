#!/usr/bin/env bash
# Resolves requirements/lock.txt from pyproject.toml: names, versions and hashes, nothing else.
# Runs on the oldest Python we support, so that packages needed only there are in it too.
#   scripts/lock.sh --upgrade             take newer versions than the present lock's
#   scripts/lock.sh --upgrade-package x   the same for one package
# pip-tools is installed into a temporary folder: it is not part of the lock.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python=${PYTHON:-python3.11}
"$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null || {
    echo "lock: error: the lock is resolved on Python 3.11, and $python is not that." >&2
    echo "      Next: make lock PYTHON=/path/to/python3.11" >&2
    exit 1
}
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
"$python" -m venv "$tools"
"$tools/bin/python" -m pip install --quiet 'pip-tools>=7.5,<8'

# The index and the local folders of this machine stay out of the resolution and of the file.
env -u PIP_FIND_LINKS -u PIP_INDEX_URL -u PIP_EXTRA_INDEX_URL -u PIP_TRUSTED_HOST \
    "$tools/bin/python" -m piptools compile --quiet --generate-hashes --allow-unsafe \
    --strip-extras --extra dev --no-header --no-annotate --no-emit-index-url \
    --no-emit-find-links --no-emit-trusted-host --no-emit-options \
    --output-file requirements/lock.txt "$@" pyproject.toml

# pip-tools leaves a comment above the build backend; the file holds no comments.
sed '/^#/d; /^$/d' requirements/lock.txt >"$tools/lock.txt"
if grep -vE '^([a-z0-9._-]+==[^ ]+ \\|    --hash=sha256:[0-9a-f]{64}( \\)?)$' "$tools/lock.txt"; then
    echo "lock: error: the lines above are neither a name with a version nor a hash." >&2
    exit 1
fi
cp "$tools/lock.txt" requirements/lock.txt
echo "lock: $(grep -c '==' requirements/lock.txt) packages in requirements/lock.txt"
