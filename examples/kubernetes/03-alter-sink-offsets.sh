#!/usr/bin/env bash
# Rewind a sink: it reads some records of its topic again.
. "$(dirname "$0")/story.sh"
show penstock topic create sunk
printf 'one\ntwo\nthree\n' | penstock produce sunk

kubectl apply -f - <<END
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnector
metadata:
  name: sunk
  labels:
    strimzi.io/cluster: $CLUSTER
spec:
  class: FileStreamSink
  showOffsets: true
  config:
    topics: sunk
    file: $work/out.txt
    value.converter: org.apache.kafka.connect.storage.StringConverter
END
eventually is kctr/sunk '{.status.connectorOffsets.sink[0].offset.kafkaOffset}' 3
set_state sunk stopped
kubectl apply -f - <<END
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnectorOffsets
metadata:
  name: sunk-back
  labels:
    strimzi.io/cluster: $CLUSTER
spec:
  connectorName: sunk
  sinkOffsets:
    - partition:
        kafkaTopic: sunk
        kafkaPartition: 0
      offset:
        kafkaOffset: 1
END
ready kctro/sunk-back
set_state sunk running
again() { [ "$(paste -sd ' ' "$work/out.txt")" = "one two three two three" ]; }
eventually again
show kubectl delete kctr/sunk kctro/sunk-back
