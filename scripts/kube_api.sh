#!/usr/bin/env bash
# A real Kubernetes API server without containers: kube-apiserver, etcd and kubectl, built from the
# Go module proxy (scripts/kube/go.mod pins every module).
#   scripts/kube_api.sh build        build what is not there yet; print the folder (10 minutes once)
#   scripts/kube_api.sh controllers  the same for kube-controller-manager
#   scripts/kube_api.sh helm         the same for helm; prints the program's path
# They go to the user's cache folder, under a name that changes with the versions. GOFLAGS=-p=1 and
# GOMAXPROCS=1 keep a shared machine usable. Exit code 3: Go is missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

programs=(
    kube-apiserver=k8s.io/kubernetes/cmd/kube-apiserver
    etcd=go.etcd.io/etcd/server/v3
    kubectl=k8s.io/kubernetes/cmd/kubectl
)
controllers=kube-controller-manager=k8s.io/kubernetes/cmd/kube-controller-manager

cache() {
    if [ -n "${PENSTOCK_CACHE_DIR:-}" ]; then echo "$PENSTOCK_CACHE_DIR"
    elif [ -n "${XDG_CACHE_HOME:-}" ]; then echo "$XDG_CACHE_HOME/penstock"
    elif [ "$(uname)" = Darwin ]; then echo "$HOME/Library/Caches/penstock"
    else echo "$HOME/.cache/penstock"; fi
}

# folder <name>: where the programs of scripts/<name>/go.mod go
folder() { echo "$(cache)/$1-$(cat "$here/$1/go.mod" "$here/$1/go.sum" | sha256sum | cut -c1-16)"; }

need_go() {
    command -v go >/dev/null && return
    echo "kube: Go is missing, and the API server is built with it." >&2
    echo "      Next: install Go 1.24 or newer (https://go.dev/dl/), then run this again." >&2
    exit 3
}

# The server tells its version from here; without these kubectl cannot read it.
version_flags() {
    local version minor package
    version=$(awk '$1 == "k8s.io/kubernetes" { print $2 } $2 == "k8s.io/kubernetes" { print $3 }' go.mod | head -n 1)
    minor=$(echo "$version" | cut -d. -f2)
    for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
        printf -- '-X %s.gitVersion=%s ' "$package" "$version"
        printf -- '-X %s.gitMajor=1 -X %s.gitMinor=%s ' "$package" "$package" "$minor"
    done
}

# compile <folder> <program> <package>: whole or not at all
compile() {
    [ -x "$1/$2" ] && return
    echo "kube: building $2 ..." >&2
    CGO_ENABLED=0 nice -n 15 go build -trimpath -ldflags "-s -w $(version_flags)" -o "$1/$2.part" "$3" >&2
    mv "$1/$2.part" "$1/$2"
}

# build <name> <program=package>...
build() {
    local into
    into=$(folder "$1")
    cd "$here/$1"
    shift
    mkdir -p "$into"
    for program in "$@"; do
        [ -x "$into/${program%%=*}" ] || need_go
        # One builds, the others wait and find it done.
        exec 9>"$into/${program%%=*}.lock"
        flock 9
        compile "$into" "${program%%=*}" "${program#*=}"
        exec 9>&-
    done
    echo "$into"
}

case ${1:-} in
build) build kube "${programs[@]}" ;;
controllers) build kube "$controllers" ;;
helm) echo "$(build helm helm=helm.sh/helm/v3/cmd/helm)/helm" ;;
*)
    sed -n '2,8s/^# //p' "$0"
    exit 2
    ;;
esac
