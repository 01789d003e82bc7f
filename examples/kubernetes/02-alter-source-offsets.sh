#!/usr/bin/env bash
# Rewind a source: it reads everything after its new offset again.
. "$(dirname "$0")/story.sh"
printf 'one\ntwo\nthree\n' >"$work/in.txt"

kubectl apply -f - <<END
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnector
metadata:
  name: altered
  labels:
    strimzi.io/cluster: $CLUSTER
spec:
  class: FileStreamSource
  config:
    file: $work/in.txt
    topic: altered
    value.converter: org.apache.kafka.connect.storage.StringConverter
END
eventually has_lines altered 3
set_state altered stopped
kubectl apply -f - <<END
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnectorOffsets
metadata:
  name: altered-back
  labels:
    strimzi.io/cluster: $CLUSTER
spec:
  connectorName: altered
  sourceOffsets:
    - partition: "{\"filename\":\"$work/in.txt\"}"
      offset: "{\"position\":4}"
END
ready kctro/altered-back
set_state altered running
eventually has_lines altered 5
[ "$(lines altered | tail -n 2 | paste -sd ' ')" = "two three" ]
show kubectl delete kctr/altered kctro/altered-back
