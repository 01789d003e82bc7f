#!/usr/bin/env bash
# A file into a topic and the topic into a file, with the `penstock` command alone.
#
#     bash examples/01-file-to-topic-to-file.sh
#
# A source and a sink are applied, listed and described; then a line is appended to the file, and
# arrives. What they move is compared byte for byte.
. "$(dirname "$0")/running_worker.sh"

mkdir "$EXAMPLES_FOLDER/01"
cd "$EXAMPLES_FOLDER/01"
seq -f 'line %g of the river' 1000 >river.txt

cat >source.json <<END
{"name": "river",
 "config": {"connector.class": "FileStreamSource", "file": "$PWD/river.txt", "topic": "river"}}
END
cat >sink.json <<END
{"name": "lake",
 "config": {"connector.class": "FileStreamSink", "topics": "river", "file": "$PWD/lake.txt"}}
END

show penstock apply -f source.json
show penstock apply -f sink.json
eventually cmp -s river.txt lake.txt
show penstock get connectors
show penstock get offsets river
show penstock describe connector lake

printf '\n$ echo "one more" >>river.txt\n'
echo "one more" >>river.txt
eventually cmp -s river.txt lake.txt
show tail -n 2 lake.txt

[ "$(wc -l <lake.txt)" -eq 1001 ]
echo
echo "river.txt and lake.txt are the same: $(wc -l <lake.txt) lines."
