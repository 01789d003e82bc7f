#!/usr/bin/env bash
# The offsets topic was deleted by accident. A running worker still has the offsets in memory: the status
# shows them, and keeps them once showOffsets is off. Restart the worker, which creates the topic again,
# and set the offsets from the status.
#   OFFSETS_TOPIC    the offsets topic of the cluster
#   RESTART_WORKER   a command that restarts its worker
. "$(dirname "$0")/story.sh"
printf 'one\ntwo\n' >"$work/in.txt"

connector() {
    cat <<END
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnector
metadata:
  name: rescued
  labels:
    strimzi.io/cluster: $CLUSTER
spec:
  class: FileStreamSource
  state: $1
  showOffsets: $2
  config:
    file: $work/in.txt
    topic: rescued
END
}
# offsets <name> <list>
offsets() {
    cat <<END
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnectorOffsets
metadata:
  name: $1
  labels:
    strimzi.io/cluster: $CLUSTER
spec:
  connectorName: rescued
  sourceOffsets: $2
END
}
connector stopped true | kubectl apply -f -
settled kctr/rescued
offsets begin "[{\"partition\": \"{\\\"filename\\\":\\\"$work/in.txt\\\"}\", \"offset\": \"{\\\"position\\\":8}\"}]" |
    kubectl apply -f -
ready kctro/begin
set_state rescued running
eventually is kctr/rescued '{.status.connectorOffsets.source[0].offset}' '{"position":8}'

show penstock topic delete "$OFFSETS_TOPIC" --yes
before=$(kubectl get kctr/rescued -o 'jsonpath={.status.connectorOffsets.lastUpdateTime}')
newer() { [[ "$(kubectl get kctr/rescued -o 'jsonpath={.status.connectorOffsets.lastUpdateTime}')" > "$before" ]]; }
eventually newer
is kctr/rescued '{.status.connectorOffsets.source[0].offset}' '{"position":8}'

connector stopped false | kubectl apply -f -
settled kctr/rescued
$RESTART_WORKER
rescued=$(kubectl get kctr/rescued -o 'jsonpath={.status.connectorOffsets.source}')
offsets again "$rescued" | kubectl apply -f -
ready kctro/again
connector running true | kubectl apply -f -
settled kctr/rescued
eventually newer
is kctr/rescued '{.status.connectorOffsets.source}' "$rescued"
show kubectl delete kctr/rescued kctro/begin kctro/again
