"""The same as `charms.layer.kafka_connect_helpers`, which the documents name as well."""

from charms.layer.kafka_connect_helpers import *  # noqa: F403 (all of it, under another name)
