# Sourced by the stories. They need, as README.md says,
#   KUBECONFIG   a namespace that `penstock operator` watches, with the KafkaConnect $CLUSTER
#   PENSTOCK_BOOTSTRAP_SERVERS   its Kafka brokers, to write and read records
set -euo pipefail
: "${CLUSTER:=my-connect-cluster}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

show() {
    printf '\n$ %s\n' "$*"
    "$@"
}

# Waits up to two minutes for a command to succeed.
eventually() {
    local deadline=$((SECONDS + 120))
    until "$@"; do
        if [ $SECONDS -ge $deadline ]; then
            echo "timed out waiting for: $*" >&2
            kubectl get kctr,kctro -o yaml >&2
            exit 1
        fi
        sleep 0.3
    done
}

# is <resource> <jsonpath> <text>
is() { [ "$(kubectl get "$1" -o "jsonpath=$2")" = "$3" ]; }
ready() { show kubectl wait "$1" --for=condition=Ready --timeout=120s; }
# Ready, for the current generation of the spec.
settled() {
    eventually is "$1" '{.status.observedGeneration}' "$(kubectl get "$1" -o 'jsonpath={.metadata.generation}')"
    ready "$1"
}
set_state() { show kubectl patch "kctr/$1" --type=merge -p "{\"spec\":{\"state\":\"$2\"}}" && settled "kctr/$1"; }

# lines <topic>: the records of a topic
lines() { penstock consume "$1" --beginning -d -o raw 2>/dev/null || true; }
has_lines() { [ "$(lines "$1" | wc -l)" -eq "$2" ]; }
