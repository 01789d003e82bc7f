#!/usr/bin/env bash
# What you have for Kafka Connect works as it is: properties files, curl, class names, offsets.
#
#     bash examples/07-move-from-kafka-connect.sh
#
# The two properties files in 07-move-from-kafka-connect/ hold what Kafka ships for its standalone
# worker. They are applied unchanged; then Kafka Connect's REST API is asked with curl, as a tool
# made for Kafka Connect would.
. "$(dirname "$0")/running_worker.sh"

# The files name relative paths: those are relative to the folder in which the worker was started.
cd "$EXAMPLES_FOLDER"
cp "$here"/07-move-from-kafka-connect/*.properties .
printf 'foo\nbar\n' >test.txt

show penstock apply -f connect-file-source.properties
show penstock apply -f connect-file-sink.properties
eventually cmp -s test.txt test.sink.txt
show cat test.sink.txt

# ask <path>: what Kafka Connect's REST API answers
ask() {
    printf '\n$ curl %s\n' "$PENSTOCK_URL$1"
    answer=$(curl --silent --show-error --fail --noproxy '*' "$PENSTOCK_URL$1")
    echo "$answer"
}

ask /connectors
ask /connectors/local-file-source/status
ask /connectors/local-file-source/offsets
[ "$answer" = '{"offsets":[{"partition":{"filename":"test.txt"},"offset":{"position":8}}]}' ]

echo
echo "Applied unchanged, moved, and at the offset that Kafka Connect would have written."
