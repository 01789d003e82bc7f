#!/usr/bin/env bash
# Object storage that speaks other clouds' APIs on this machine; prints the program's path.
#   scripts/cloud_stores.sh azure   Azurite, Microsoft's own for Azure Blob Storage, from npm (1 minute)
#   scripts/cloud_stores.sh gcs     fake-gcs-server, built from the Go module proxy (2 minutes). It
#                                   takes no uploads by the API that obstore uses: for reading only.
# They go to the user's cache folder, under a name that changes with the versions, which are pinned
# in scripts/azurite and scripts/gcs. Exit code 3: npm or Go is missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

cache() {
    if [ -n "${PENSTOCK_CACHE_DIR:-}" ]; then echo "$PENSTOCK_CACHE_DIR"
    elif [ -n "${XDG_CACHE_HOME:-}" ]; then echo "$XDG_CACHE_HOME/penstock"
    elif [ "$(uname)" = Darwin ]; then echo "$HOME/Library/Caches/penstock"
    else echo "$HOME/.cache/penstock"; fi
}

# folder <name> <file>...: where what the files pin goes
folder() {
    local name=$1
    shift
    echo "$(cache)/$name-$(cat "$@" | sha256sum | cut -c1-16)"
}

# need <program> <what to install>
need() {
    command -v "$1" >/dev/null && return
    echo "clouds: $1 is missing. Next: install $2, then run this again." >&2
    exit 3
}

azure() {
    local into
    into=$(folder azurite "$here/azurite/package-lock.json")
    mkdir -p "$into"
    exec 9>"$into.lock"
    flock 9
    if [ ! -e "$into/done" ]; then
        need npm "Node.js 20 or newer"
        echo "clouds: installing Azurite ..." >&2
        cp "$here/azurite/package.json" "$here/azurite/package-lock.json" "$into"
        (cd "$into" && npm ci --ignore-scripts --no-audit --no-fund >&2)
        touch "$into/done"
    fi
    echo "$into/node_modules/.bin/azurite-blob"
}

gcs() {
    local into
    into=$(folder gcs "$here/gcs/go.mod" "$here/gcs/go.sum")
    mkdir -p "$into"
    exec 9>"$into.lock"
    flock 9
    if [ ! -x "$into/fake-gcs-server" ]; then
        need go "Go 1.24 or newer (https://go.dev/dl/)"
        echo "clouds: building fake-gcs-server ..." >&2
        (cd "$here/gcs" && CGO_ENABLED=0 nice -n 15 go build -trimpath -ldflags "-s -w" \
            -o "$into/part" github.com/fsouza/fake-gcs-server >&2)
        mv "$into/part" "$into/fake-gcs-server"
    fi
    echo "$into/fake-gcs-server"
}

case ${1:-} in
azure) azure ;;
gcs) gcs ;;
*)
    sed -n '2,8s/^# //p' "$0"
    exit 2
    ;;
esac
