#!/usr/bin/env bash
# Makes .venv: a fitting Python, the locked packages, this project (editable) and the jars.
# Does nothing, quickly, when .venv already matches. Called by `make setup`.
#
#   PYTHON=/path/to/python3   use this Python and look for no other
#   JAVA_HOME=/path/to/jdk    use this Java (otherwise the one on PATH)
#
# Two stamps inside .venv say how far an earlier run came. Each is written last, so a run that
# was killed leaves none: .stamp-packages (lock, Python and place fit) and .stamp (all of it).
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
venv=$root/.venv
lock=$root/requirements/lock.txt
log=$root/.setup.log

say() { printf 'setup: %s\n' "$*"; }

# fail <what is wrong> <next step>...
fail() {
    printf 'setup: error: %s\n' "$1" >&2
    shift
    if [ $# -gt 0 ]; then printf '       %s\n' "$@" >&2; fi
    exit 1
}

sha() {
    if command -v sha256sum >/dev/null 2>&1; then
        cat "$@" | sha256sum | cut -d' ' -f1
    else
        cat "$@" | shasum -a 256 | cut -d' ' -f1
    fi
}

# --- what would fit, from files alone -------------------------------------------------------

# The Python version of the venv, without starting it. Empty if there is no venv.
venv_version() {
    if [ -x "$venv/bin/python" ] && [ -f "$venv/pyvenv.cfg" ]; then
        sed -n 's/^version *= *//p' "$venv/pyvenv.cfg"
    fi
}

packages_stamp() { printf '%s python=%s place=%s\n' "$(sha "$lock")" "$1" "$root"; }
full_stamp() { printf '%s python=%s place=%s\n' "$(sha "$lock" pyproject.toml)" "$1" "$root"; }

# stamp_is <file> <text>
stamp_is() { [ -f "$1" ] && [ "$(cat "$1")" = "$2" ]; }

# write_stamp <file> <text>: whole or not at all
write_stamp() {
    printf '%s\n' "$2" >"$1.part"
    mv "$1.part" "$1"
}

wanted_version() {
    if [ -n "${PYTHON:-}" ]; then probe_python "$PYTHON" || true; else venv_version; fi
}

up_to_date() {
    local version
    version=$(venv_version)
    [ -n "$version" ] && [ -x "$venv/bin/penstock" ] &&
        stamp_is "$venv/.stamp" "$(full_stamp "$version")" &&
        { [ -z "${PYTHON:-}" ] || [ "$(wanted_version)" = "$version" ]; }
}

# --- Python ----------------------------------------------------------------------------------

# Prints the version of a candidate; fails if it cannot be run (a pyenv shim may exist and fail).
probe_python() {
    "$1" -c 'import sys; print(".".join(map(str, sys.version_info[:3])))' 2>/dev/null
}

fits_python() { case $1 in 3.11.* | 3.12.* | 3.13.*) return 0 ;; *) return 1 ;; esac; }

# Sets $python and $python_version.
find_python() {
    local name path version seen='' found='' without_venv=''
    local names=(python3.13 python3.12 python3.11 python3 python)
    if [ -n "${PYTHON:-}" ]; then names=("$PYTHON"); fi
    for name in "${names[@]}"; do
        while IFS= read -r path; do
            case "$seen" in *"|$path|"*) continue ;; esac
            seen="$seen|$path|"
            if ! version=$(probe_python "$path"); then
                found="$found  $path (does not run)"
            elif ! fits_python "$version"; then
                found="$found  $path ($version)"
            elif ! "$path" -c 'import venv, ensurepip' >/dev/null 2>&1; then
                found="$found  $path ($version, without venv)"
                without_venv=$version
            else
                python=$path
                python_version=$version
                return 0
            fi
        done < <(type -ap "$name" 2>/dev/null || true)
    done
    if [ -n "$without_venv" ]; then
        fail "Python $without_venv is here, but its venv module is not." \
            "Found:${found}" \
            "Next: install it (Debian, Ubuntu: apt install python${without_venv%.*}-venv)," \
            "      or name another Python: make setup PYTHON=/path/to/python3"
    fi
    fail "no fitting Python: 3.11, 3.12 or 3.13 is needed." \
        "Found:${found:-  none${PYTHON:+ (PYTHON=$PYTHON)}}" \
        "Next: install one (Debian, Ubuntu: apt install python3 python3-venv; macOS: brew install python@3.13)," \
        "      or name one: make setup PYTHON=/path/to/python3.13"
}

# --- Java ------------------------------------------------------------------------------------

# Sets $java and $java_version (the major one).
find_java() {
    local whence=PATH text
    if [ -n "${JAVA_HOME:-}" ]; then
        java=$JAVA_HOME/bin/java
        whence=JAVA_HOME
    else
        java=$(command -v java || true)
    fi
    local next=(
        "Next: install one (Debian, Ubuntu: apt install openjdk-17-jre-headless; macOS: brew install openjdk@17),"
        "      then put it on PATH or name it: make setup JAVA_HOME=/path/to/jdk"
    )
    if [ -z "$java" ]; then
        fail "no Java: Spark and the embedded broker need Java 17 to 22." \
            "Found:  none (JAVA_HOME is not set, no java on PATH)" "${next[@]}"
    fi
    if ! text=$("$java" -version 2>&1); then
        fail "Java does not run; Java 17 to 22 is needed." \
            "Found:  $java (by $whence): ${text%%$'\n'*}" "${next[@]}"
    fi
    # 'openjdk version "17.0.15" …'; Java 8 calls itself "1.8.0_…"
    java_version=$(printf '%s\n' "$text" | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1)
    if [ "${java_version:-0}" -lt 17 ] || [ "${java_version:-0}" -gt 22 ]; then
        fail "no fitting Java: Java 17 to 22 is needed." \
            "Found:  $java (by $whence): ${text%%$'\n'*}" "${next[@]}"
    fi
}

# --- phases ----------------------------------------------------------------------------------

beat_pid=
stop_beat() {
    if [ -n "$beat_pid" ]; then
        kill "$beat_pid" 2>/dev/null || true
        wait "$beat_pid" 2>/dev/null || true
        beat_pid=
    fi
}
trap stop_beat EXIT

# phase <what> <command>...: runs it with its output in the log; a line at the start, one every
# 15 s with what it is at, one at the end with the seconds. The command's status is returned.
phase() {
    local what=$1 begun=$SECONDS status=0
    shift
    say "$what ..."
    : >"$log"
    (
        while sleep 15 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
            # The line itself may be long (a URL): its first 90 characters will do.
            say "  $((SECONDS - begun)) s, at: $(tail -n 1 "$log" | sed 's/^ *//' | cut -c1-90)"
        done
    ) 9>&- &
    beat_pid=$!
    # It keeps the lock (descriptor 9): should this script be killed alone, the next run waits.
    "$@" >>"$log" 2>&1 || status=$?
    stop_beat
    if [ "$status" -eq 0 ]; then say "$what: done in $((SECONDS - begun)) s"; fi
    return "$status"
}

# Shows why pip failed and what to do next.
pip_failed() {
    tail -n 12 "$log" | sed 's/^/       | /' >&2
    if grep -qE 'NewConnectionError|NameResolutionError|ConnectTimeout|ReadTimeout|ProxyError|Connection refused|Network is unreachable|name resolution|SSLError|Max retries' "$log"; then
        fail "$1: the package index cannot be reached." \
            "Next: check the network, or the proxy and certificate settings (HTTPS_PROXY, PIP_INDEX_URL, PIP_CERT)," \
            "      then run 'make setup' again: what was downloaded is kept in pip's cache."
    fi
    if grep -q 'No space left' "$log"; then
        fail "$1: the disk is full." "Next: free about 2 GB, then run 'make setup' again."
    fi
    if grep -q 'DO NOT MATCH THE HASHES' "$log"; then
        fail "$1: a download is not the file that requirements/lock.txt names." \
            "Next: run 'make setup' again; if it stays, clear the cache: $venv/bin/python -m pip cache purge"
    fi
    fail "$1." "Next: read the whole of $log, then run 'make setup' again."
}

# Every package is a ready wheel but PySpark, which exists as a source archive only. It is built
# by the locked setuptools (installed first), not by one fetched without a hash.
pip_install=(
    "$venv/bin/python" -m pip --disable-pip-version-check --no-input install --progress-bar off
    --require-hashes --only-binary ":all:" --no-binary pyspark --no-build-isolation --no-deps
)

install_backend() {
    local part=$venv/.setuptools.txt
    awk '/^setuptools==/ { on = 1 } on { print } on && !/\\$/ { exit }' "$lock" >"$part"
    "${pip_install[@]}" -r "$part"
}

install_packages() {
    "${pip_install[@]}" -r "$lock" && "$venv/bin/python" -m pip check
}

install_project() {
    "$venv/bin/python" -m pip --disable-pip-version-check --no-input install \
        --no-deps --no-build-isolation --no-index -e .
}

# Spark starts Python workers over and over: without bytecode each start compiles again. pip
# writes it unless its environment says not to (PIP_NO_COMPILE, a pip.conf).
compile_if_missing() {
    local site
    site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    if [ ! -d "$site/pyspark/__pycache__" ] || [ ! -d "$site/pyarrow/__pycache__" ]; then
        # A few packages carry templates and Python 2 files which cannot be compiled: no error.
        phase "compiling the packages" "$venv/bin/python" -m compileall -q -j 0 "$site" || true
    fi
}

# --- main ------------------------------------------------------------------------------------

if up_to_date; then exit 0; fi
begun=$SECONDS

# Two set-ups at once (say `make test` in two terminals): the second waits, then finds it done.
if command -v flock >/dev/null 2>&1; then
    exec 9>"$root/.setup.lock"
    if ! flock -n 9; then
        say "another set-up is running, waiting for it ..."
        flock 9
        if up_to_date; then exit 0; fi
    fi
fi

version=$(wanted_version)
if [ -n "$version" ] && [ "$version" = "$(venv_version)" ] &&
    stamp_is "$venv/.stamp-packages" "$(packages_stamp "$version")"; then
    python_version=$version
    say "Python $python_version in .venv, packages as locked"
    find_java
    say "Java $java_version ($java)"
else
    find_python
    say "Python $python_version ($python)"
    find_java
    say "Java $java_version ($java)"
    if [ -e "$venv" ]; then say "removing .venv (unfinished, or made for another lock, Python or place)"; fi
    rm -rf "$venv"
    phase "making .venv" "$python" -m venv "$venv" ||
        { tail -n 5 "$log" >&2; fail "the venv could not be made with $python." \
            "Next: name another Python: make setup PYTHON=/path/to/python3.13"; }
    phase "installing the build backend" install_backend || pip_failed "the build backend was not installed"
    phase "installing the locked packages (PySpark alone is 400 MB)" install_packages ||
        pip_failed "the locked packages were not installed"
    compile_if_missing
    write_stamp "$venv/.stamp-packages" "$(packages_stamp "$python_version")"
fi

rm -f "$venv/.stamp"
phase "installing penstock itself" install_project || pip_failed "penstock itself was not installed"

say "fetching the jars ..."
jars_begun=$SECONDS
"$venv/bin/python" -m penstock.embedded 9>&- ||
    fail "the jars were not fetched (see above)." \
        "Next: check the network, then run 'make setup' again: what is already there is kept."
say "fetching the jars: done in $((SECONDS - jars_begun)) s"

write_stamp "$venv/.stamp" "$(full_stamp "$python_version")"
rm -f "$log"
say "ready in $((SECONDS - begun)) s: .venv/bin/penstock"
