#!/usr/bin/env bash
# A record that a sink cannot read makes it fail: move its offset past that record.
. "$(dirname "$0")/story.sh"
show penstock topic create poisoned
printf '%s\n' '"good"' 'poison' '"better"' | penstock produce poisoned

kubectl apply -f - <<END
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnector
metadata:
  name: poisoned
  labels:
    strimzi.io/cluster: $CLUSTER
spec:
  class: FileStreamSink
  showOffsets: true
  config:
    topics: poisoned
    file: $work/out.txt
    value.converter: org.apache.kafka.connect.json.JsonConverter
    value.converter.schemas.enable: false
END
eventually is kctr/poisoned '{.status.connectorStatus.tasks[0].state}' FAILED
show kubectl get kctr/poisoned -o 'jsonpath={.status.conditions[0].message}'
show kubectl get kctr/poisoned -o 'jsonpath={.status.connectorOffsets.sink}'
set_state poisoned stopped
kubectl apply -f - <<END
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnectorOffsets
metadata:
  name: skip
  labels:
    strimzi.io/cluster: $CLUSTER
spec:
  connectorName: poisoned
  sinkOffsets:
    - partition:
        kafkaTopic: poisoned
        kafkaPartition: 0
      offset:
        kafkaOffset: 2
END
ready kctro/skip
set_state poisoned running
skipped() { grep -q better "$work/out.txt" && ! grep -q poison "$work/out.txt"; }
eventually skipped
show kubectl delete kctr/poisoned kctro/skip
