#!/usr/bin/env bash
# Java and the user of the image. With a folder it changes nothing outside of it: the user is made
# there, and installing Java is only simulated. That is how CI runs it.
set -euo pipefail
root=${1:-}
packages=(openjdk-17-jre-headless)
install=(apt-get install --yes --quiet --no-install-recommends "${packages[@]}")

if [ -n "$root" ]; then
    mkdir -p "$root/etc"
    touch "$root/etc/passwd" "$root/etc/group"
    [ -n "$(apt-cache --quiet show "${packages[@]}" 2>/dev/null)" ] || apt-get update --quiet
    "${install[@]}" --simulate
else
    apt-get update --quiet
    "${install[@]}"
    rm -rf /var/lib/apt/lists/*
fi
groupadd ${root:+--prefix "$root"} --gid 10001 penstock
useradd ${root:+--prefix "$root"} --uid 10001 --gid 10001 --no-create-home --shell /usr/sbin/nologin penstock
grep --quiet '^penstock:[^:]*:10001:10001:' "$root/etc/passwd"
