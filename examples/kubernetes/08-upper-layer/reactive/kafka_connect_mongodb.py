"""The upper layer of the base layer's documents, with its gaps filled.

There is no MongoDB here: what would go to it goes to a file.
"""

import os

from charms.layer.kafka_connect_helpers import register_connector, set_worker_config
from charms.reactive import set_flag, status_set, when, when_not

mongodb_connector_name = "mongodb-sink"


@when("mongodb.available")
@when_not("kafka-connect-mongodb.configured")
def configure() -> None:
    worker_configs = {
        "key.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    }
    set_worker_config(worker_configs)
    set_flag("kafka-connect-mongodb.configured")
    set_flag("kafka-connect-base.install")  # Tell the base layer a worker config is ready !


@when("kafka-connect.running", "mongodb.available")
@when_not("kafka-connect-mongodb.running")
def run() -> None:
    # Get MongoDB connection information
    mongodb_connector_config = {
        "connector.class": "FileStreamSink",
        "file": os.environ["MONGODB_FILE"],
        "tasks.max": "1",
    }
    response = register_connector(mongodb_connector_config, mongodb_connector_name)
    if response and (response.status_code == 200 or response.status_code == 201):  # noqa: PLR1714 (as documented)
        status_set("active", "ready")
        set_flag("kafka-connect-mongodb.running")
