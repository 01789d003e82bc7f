"""What is installed, and the keys it understands."""

from __future__ import annotations

from differential.steps import Step, get

SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"
PLUGIN = "/connector-plugins"
PREDICATES = "org.apache.kafka.connect.transforms.predicates"

STEPS: tuple[Step, ...] = (
    get(PLUGIN),
    get(f"{PLUGIN}/", "a slash at the end"),
    get(f"{PLUGIN}?connectorsOnly=true"),
    get(f"{PLUGIN}?connectorsOnly=false"),
    get(f"{PLUGIN}?connectorsOnly=maybe"),
    get(f"{PLUGIN}/{SOURCE}/config"),
    get(f"{PLUGIN}/{SINK}/config"),
    get(f"{PLUGIN}/FileStreamSourceConnector/config"),
    get(f"{PLUGIN}/FileStreamSource/config"),
    get(f"{PLUGIN}/FileStreamSink/config/", "a slash at the end"),
    get(f"{PLUGIN}/{SOURCE}/config?version=latest"),
    get(f"{PLUGIN}/{SOURCE}/config?version=%5B"),
    get(f"{PLUGIN}/org.apache.kafka.connect.json.JsonConverter/config"),
    get(f"{PLUGIN}/org.apache.kafka.connect.storage.StringConverter/config"),
    get(f"{PLUGIN}/org.apache.kafka.connect.converters.ByteArrayConverter/config"),
    get(f"{PLUGIN}/org.apache.kafka.connect.storage.SimpleHeaderConverter/config"),
    get(f"{PLUGIN}/org.apache.kafka.connect.transforms.RegexRouter/config"),
    get(f"{PLUGIN}/{PREDICATES}.HasHeaderKey/config"),
    get(f"{PLUGIN}/{PREDICATES}.RecordIsTombstone/config"),
    get(f"{PLUGIN}/{PREDICATES}.TopicNameMatches/config"),
    get(f"{PLUGIN}/com.acme.Nothing/config"),
    get(f"{PLUGIN}/{SOURCE}"),
    get(f"{PLUGIN}/{SOURCE}/nowhere"),
    get(f"{PLUGIN}/{SOURCE}/config/validate"),
)
