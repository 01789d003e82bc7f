#!/usr/bin/env bash
# Move a connector to another cluster and continue where it was: the offsets in its status are pasted
# into the resource that sets them there. OTHER_CLUSTER may be Apache Kafka Connect.
. "$(dirname "$0")/story.sh"
: "${OTHER_CLUSTER:=other-connect-cluster}"
class=org.apache.kafka.connect.file.FileStreamSourceConnector
printf 'one\ntwo\n' >"$work/in.txt"

connector() {
    cat <<END
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnector
metadata:
  name: $1
  labels:
    strimzi.io/cluster: $2
spec:
  class: $class
  state: $3
  showOffsets: true
  config:
    file: $work/in.txt
    topic: moved
    key.converter: org.apache.kafka.connect.storage.StringConverter
    value.converter: org.apache.kafka.connect.storage.StringConverter
END
}
connector here "$CLUSTER" running | kubectl apply -f -
eventually is kctr/here '{.status.connectorOffsets.source[0].offset}' '{"position":8}'
connector here "$CLUSTER" stopped | kubectl apply -f -
settled kctr/here
connector there "$OTHER_CLUSTER" stopped | kubectl apply -f -
settled kctr/there
kubectl apply -f - <<END
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnectorOffsets
metadata:
  name: move
  labels:
    strimzi.io/cluster: $OTHER_CLUSTER
spec:
  connectorName: there
  sourceOffsets: $(kubectl get kctr/here -o 'jsonpath={.status.connectorOffsets.source}')
END
ready kctro/move
set_state there running
echo three >>"$work/in.txt"
eventually has_lines moved 3
[ "$(lines moved | paste -sd ' ')" = "one two three" ]
show kubectl delete kctr/here kctr/there kctro/move
