"""A real Kafka broker and Spark's Kafka jars on a machine that has only Python and Java.

`find_java`, then `ensure_jars`, then `EmbeddedBroker`; every error is an EmbeddedError whose
text tells the user what to do.
"""

from penstock.embedded.broker import EmbeddedBroker
from penstock.embedded.errors import (
    BrokerStartFailed,
    DataFolderInUse,
    EmbeddedError,
    JarsUnavailable,
    JavaNotFound,
    PortInUse,
)
from penstock.embedded.jars import Jars, cache_folder, ensure_jars, jars_folder
from penstock.embedded.java import Java, find_java

__all__ = [
    "BrokerStartFailed",
    "DataFolderInUse",
    "EmbeddedBroker",
    "EmbeddedError",
    "Jars",
    "JarsUnavailable",
    "Java",
    "JavaNotFound",
    "PortInUse",
    "cache_folder",
    "ensure_jars",
    "find_java",
    "jars_folder",
]
