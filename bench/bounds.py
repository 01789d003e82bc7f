"""What bounds each row, one sentence each: shown below its table by ``make bench ROW=page``."""

from __future__ import annotations

_TRICKLE = (
    "A transaction's round trips, one after the other: the system tells of changed files, so that "
    "no poll is waited for. Of the processor time about half is the Kafka client's: each "
    "connector has a producer with threads of its own, and each record is a transaction, some six "
    "requests where Kafka Connect as it comes has one. Its task waits for a second whenever it has "
    "found nothing."
)
_SINKS = "A fetch that waits at the broker, then the writing of a line; the commit comes after it."

BOUNDS: dict[str, str] = {
    "file-to-topic-1": "The client's network thread and the broker: a third of the Python thread's "
    "time is waiting at commits until everything is delivered. Another third is the client's "
    "queueing of whole columns, a fifth the cutting of lines. The bare loop is bound by produce(), "
    "a call per record. The first half second of ours is fencing and a Spark job's start. Kafka "
    "Connect as it comes is bound by its producer's small batches, tuned by its conversion.",
    "file-to-topic-2": "Two such threads, two network threads of the client and the broker share "
    "two cores.",
    "file-transformed": "The making of JSON texts is half of the task's time, most of it the "
    "search for what has to be escaped and the joining of parts; a fifth is queueing columns, "
    "a tenth cutting lines, a tenth waiting for commits.",
    "topic-to-file": "The client: half of the reading thread's time is its freeing of fetched "
    "messages, a quarter their taking from its queue, an eighth their making into columns. Beside "
    "it another thread decodes and writes, and a third commits; they share two cores with the "
    "client's network thread and the broker. The first 0.4 s are fencing, a Spark job's start and "
    "the first fetch.",
    "topic-to-index": "OpenSearch: six sevenths of the task's time are waiting for its answers.",
    "topic-to-table-upsert": "PostgreSQL: well over half of the task's time is the statement that "
    "merges a batch, with two indexes to keep, one of them the bench's own. An eighth is copying "
    "the batch into its temporary table, a twentieth the commit, a tenth the decoding of JSON, "
    "which PostgreSQL waits for. Records are fetched beside it. The first 0.3 s are the lease's "
    "start and the first fetch.",
    "topic-to-table-insert": "The same, with less work for PostgreSQL: not quite half of the "
    "task's time is the statement, a tenth the copying, an eighth the decoding of JSON, another "
    "one waiting for the first records and for the reader's end.",
    "table-to-topic": "Of the task's time two fifths are waiting for PostgreSQL's rows, which are "
    "read a batch at a time and sorted by their key, a sixth is JSON, a sixth queueing columns, a "
    "tenth waiting for the transaction before it to be committed. To connect takes the first "
    "0.1 s.",
    "mirror": "The client: half of the task's time is its making of an object for each fetched "
    "record, as headers are wanted, a seventh their making into columns, a fifth the queueing "
    "of columns with headers and timestamps.",
    "topic-to-table-growth": "As topic-to-table-upsert.",
    "table-to-topic-growth": "As table-to-topic.",
    "topic-to-index-growth": "As topic-to-index.",
    "mirror-growth": "As mirror.",
    "objects-to-topic-1": "Of the task's time two fifths are waiting for the commit of what was "
    "sent, so for the client's network thread and the broker, and as much for the thread that "
    "reads objects. That one is only a batch ahead, and waits for room about as long. Half of "
    "its own time is opening objects, a request each, a quarter their download, a quarter the "
    "check of JSON.",
    "objects-to-topic-2": "The same: two such tasks share two cores with the broker and the S3 "
    "server, and the waiting for both is most of their time.",
    "spark-objects-to-topic": "Ours as objects-to-topic-2.",
    "objects-by-record": "The making of a record object after the other, on a thread of its own "
    "that shares Python's lock with the lease; the lease waits for it most of its time.",
    "topic-to-objects": "Two fifths of the task's time, of parquet's half, are waiting until "
    "whole objects are uploaded: their offsets are committed after that. Then JSON and CSV "
    "are bound by the making of their texts, Avro by its writer, which takes a row at a time "
    "and more than half of the time. Records with headers are fetched one by one beside it.",
    "latency-active": "A transaction's round trips: the system tells of changed files, so that no "
    "poll is waited for. Kafka Connect's task waits for a second whenever it has found nothing.",
    "latency-idle": "The file's change brings about a look; then come a message to the carrier, "
    "the start of a lease there, and a commit.",
    "trickle-20": _TRICKLE,
    "trickle-100": _TRICKLE,
    "trickle-500": _TRICKLE,
    "trickle-sinks-20": _SINKS,
    "trickle-sinks-100": _SINKS,
    "trickle-sinks-500": _SINKS,
    "active-and-trickle": "Two cores: what the busy connector, its client and the broker leave.",
    "a-thousand": "Of memory the clients of the trickling ones: a producer with its threads each.",
    "start-up": "Python's imports and the joining of the worker group; with a broker of its own, "
    "the broker's start. Spark is not started before the first turn.",
    "memory-after-start": "Python with Arrow and the Kafka client; Spark is not there yet.",
    "memory-idle": "Spark's JVM, whose heap does not shrink, and Python workers until they have "
    "been idle for a minute.",
    "memory-busy": "Spark's JVM, the fetched or queued records of the client (128 MB at most), and "
    "blocks of 4 MB of the file.",
    "idle-200": "Half is looks, two a second for each connector: the status of a file and the "
    "bookkeeping around it, some 30 microseconds. The rest are timers of Spark, of the Kafka "
    "clients and of the HTTP server. Kafka Connect has a thread and a producer for each.",
    "idle-growth": "The same; a look costs the same among many.",
    "objects-idle-look": "A request for the end of the bucket, behind the lowest mark, and the "
    "64 marks; the whole bucket is listed only at its interval. How much of it is the server's "
    "work was not measured.",
    "rest-listing-p50": "Python's dictionaries, some ten microseconds for each connector; writing "
    "them as JSON takes a millisecond in all.",
    "rest-listing-p99": "The same, when Python collects garbage or another thread runs.",
    "rest-creating": "A transaction with the config and the assignment to a worker, and the "
    "reading back of both.",
    "offsets-listing": "Writing the answer as JSON and reading it again, on one core; before that "
    "at most 0.1 s until the offsets topic is known to be read to its end.",
    "consume-library": "Of loops over records, a call into the client for each record; ours "
    "fetches two thousand with one call and makes an object of each. In columns the client's "
    "freeing of fetched messages. To open a name costs half a second, mostly round trips to the "
    "brokers.",
    "consume-command": "Python's start, half a second of imports, against a hundredth; then the "
    "client's network thread and the broker, which bound kcat too, beside the thread that makes "
    "columns. On a longer topic the start matters less.",
    "sql-projection": "Not examined yet.",
    "sql-join": "Not examined yet.",
    "queries-1": "Not examined yet.",
    "queries-10": "Not examined yet.",
    "queries-50": "Not examined yet.",
    "spark-files-to-topic": "Not examined yet.",
    "spark-topic-to-files": "Not examined yet.",
    "spark-topic-to-parquet": "Not examined yet.",
    "frame-turn-cost": "Not examined yet.",
}
