#!/usr/bin/env bash
# Start over under the same name: stop and reset in one edit, then run it again.
. "$(dirname "$0")/story.sh"
printf 'one\ntwo\n' >"$work/in.txt"

connector() {
    cat <<END
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnector
metadata:
  name: fresh
  labels:
    strimzi.io/cluster: $CLUSTER
  annotations:
    strimzi.io/offsets-reset: "$2"
spec:
  class: FileStreamSource
  state: $1
  config:
    file: $work/in.txt
    topic: fresh
    value.converter: org.apache.kafka.connect.storage.StringConverter
END
}
connector running false | kubectl apply -f -
eventually has_lines fresh 2
connector stopped true | kubectl apply -f -
eventually is kctr/fresh '{.metadata.annotations.strimzi\.io/offsets-reset}' ''
set_state fresh running
eventually has_lines fresh 4
show kubectl delete kctr/fresh
