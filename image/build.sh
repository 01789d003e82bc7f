#!/usr/bin/env bash
# Fills a folder with everything the image needs: Python packages by hash, Penstock, the jars,
# the entry point. Run from a copy of the project: image/build.sh /opt/penstock
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
into=${1:?give the folder to fill}

python3 -m venv "$into"
pip=("$into/bin/python" -m pip --disable-pip-version-check --no-input install --progress-bar off)
locked=(--require-hashes --only-binary ":all:" --no-binary pyspark --no-build-isolation --no-deps)

# PySpark comes as a source archive only, and is built by the locked setuptools.
awk '/^setuptools==/ { on = 1 } on { print } on && !/\\$/ { exit }' requirements/runtime.txt >"$into/backend.txt"
"${pip[@]}" "${locked[@]}" -r "$into/backend.txt"
"${pip[@]}" "${locked[@]}" -r requirements/runtime.txt
"${pip[@]}" --no-deps --no-build-isolation --no-index .
rm "$into/backend.txt"
"$into/bin/python" -m pip check

PENSTOCK_CACHE_DIR=$into/cache "$into/bin/python" -m penstock.embedded
install -m 0755 image/entrypoint.sh "$into/bin/entrypoint.sh"
PATH="$into/bin:$PATH" image/check.sh "$into"
