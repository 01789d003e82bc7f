#!/usr/bin/env bash
# What must hold of a filled folder: the command runs, its README is current, jars are complete
# without a network.
set -euo pipefail
into=${1:?give the folder}
"$into/bin/entrypoint.sh" --version
"$into/bin/penstock" operator manifests --crds >/dev/null
"$into/bin/python" image/readme.py --check
https_proxy=http://127.0.0.1:1 PENSTOCK_CACHE_DIR=$into/cache "$into/bin/python" -m penstock.embedded
