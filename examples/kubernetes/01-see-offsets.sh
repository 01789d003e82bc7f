#!/usr/bin/env bash
# See the offsets of a running connector in its resource.
. "$(dirname "$0")/story.sh"
printf 'one\ntwo\nthree\n' >"$work/in.txt"

kubectl apply -f - <<END
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnector
metadata:
  name: seen
  labels:
    strimzi.io/cluster: $CLUSTER
spec:
  class: FileStreamSource
  tasksMax: 1
  showOffsets: true
  config:
    file: $work/in.txt
    topic: seen
END
ready kctr/seen
eventually is kctr/seen '{.status.connectorOffsets.source[0].offset}' '{"position":14}'
show kubectl get kctr/seen -o 'jsonpath={.status.connectorOffsets}'
echo four >>"$work/in.txt"
eventually is kctr/seen '{.status.connectorOffsets.source[0].offset}' '{"position":19}'
show kubectl delete kctr/seen
