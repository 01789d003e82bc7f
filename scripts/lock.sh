#!/usr/bin/env bash
# Resolves requirements/lock.txt from pyproject.toml: names, versions and hashes, nothing else; and
# requirements/runtime.txt, those of them that the image needs.
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

# resolve <file> <option>...: the index and the local folders of this machine stay out of the
# resolution and of the file. pip-tools leaves a comment above the build backend; the file holds none.
resolve() {
    local file=$1
    shift
    env -u PIP_FIND_LINKS -u PIP_INDEX_URL -u PIP_EXTRA_INDEX_URL -u PIP_TRUSTED_HOST \
        "$tools/bin/python" -m piptools compile --quiet --generate-hashes --allow-unsafe \
        --strip-extras --no-header --no-annotate --no-emit-index-url \
        --no-emit-find-links --no-emit-trusted-host --no-emit-options \
        --output-file "$file" "$@" pyproject.toml
    sed '/^#/d; /^$/d' "$file" >"$tools/lock.txt"
    if grep -vE '^([a-z0-9._-]+==[^ ]+ \\|    --hash=sha256:[0-9a-f]{64}( \\)?)$' "$tools/lock.txt"; then
        echo "lock: error: the lines above are neither a name with a version nor a hash." >&2
        exit 1
    fi
    cp "$tools/lock.txt" "$file"
    echo "lock: $(grep -c '==' "$file") packages in $file"
}

# pip-tools knows no dependency groups.
"$python" -c 'import tomllib
with open("pyproject.toml", "rb") as file:
    print(*tomllib.load(file)["dependency-groups"]["dev"], sep="\n")' >"$tools/dev.in"
resolve requirements/lock.txt --extra worker --extra operator --extra charm --extra avro --extra s3 --extra postgres --extra registry --extra sql --extra demo "$@" "$tools/dev.in"
# setuptools builds PySpark and Penstock itself.
echo "setuptools" >"$tools/backend.in"
cp requirements/lock.txt requirements/runtime.txt
resolve requirements/runtime.txt --extra worker --extra operator --extra avro --extra s3 --extra postgres --extra registry --extra sql "$tools/backend.in"
