"""The keys of the mirror source: MirrorMaker 2's names."""

from __future__ import annotations

from typing import Final

from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type
from penstock.sdk.config_validators import at_least, non_empty, one_of_ignoring_case

SOURCE_ALIAS: Final = "source.cluster.alias"
TARGET_ALIAS: Final = "target.cluster.alias"
SOURCE_SERVERS: Final = "source.cluster.bootstrap.servers"
TARGET_SERVERS: Final = "target.cluster.bootstrap.servers"
TOPICS: Final = "topics"
EXCLUDE: Final = "topics.exclude"
POLICY: Final = "replication.policy.class"
SEPARATOR: Final = "replication.policy.separator"
REPLICATION: Final = "replication.factor"
REFRESH: Final = "refresh.topics.enabled"
REFRESH_SECONDS: Final = "refresh.topics.interval.seconds"
COPY_CONFIGS: Final = "sync.topic.configs.enabled"
CONFIGS_EXCLUDE: Final = "config.properties.exclude"
ISOLATION: Final = "consumer.isolation.level"
RESET: Final = "consumer.auto.offset.reset"
ENABLED: Final = "enabled"

_PACKAGE: Final = "org.apache.kafka.connect.mirror."
DEFAULT_POLICY: Final = f"{_PACKAGE}DefaultReplicationPolicy"
IDENTITY_POLICY: Final = f"{_PACKAGE}IdentityReplicationPolicy"

MIRROR_CONFIG: Final = ConfigDef(
    ConfigKey(
        SOURCE_ALIAS,
        validator=non_empty,
        importance=Importance.HIGH,
        doc="A name for the cluster that is read: in front of the topics' names, and in offsets.",
    ),
    ConfigKey(
        SOURCE_SERVERS,
        Type.LIST,
        validator=non_empty,
        importance=Importance.HIGH,
        doc="Brokers of the cluster that is read. Its other client settings have the same prefix: "
        "source.cluster.security.protocol, source.cluster.sasl.jaas.config and so on.",
    ),
    ConfigKey(
        TARGET_SERVERS,
        Type.LIST,
        validator=non_empty,
        importance=Importance.HIGH,
        doc="Brokers of the worker's own cluster, where missing topics and partitions are created. "
        "Other client settings for that have the prefix target.cluster.",
    ),
    ConfigKey(
        TARGET_ALIAS,
        default="target",
        importance=Importance.HIGH,
        doc="A name for the worker's cluster: topics that came from there are not brought back.",
    ),
    ConfigKey(
        TOPICS,
        Type.LIST,
        default=[".*"],
        importance=Importance.HIGH,
        doc="The topics to mirror: names and regular expressions, separated by commas.",
    ),
    ConfigKey(
        EXCLUDE,
        Type.LIST,
        default=[r".*[\-\.]internal", r".*\.replica", "__.*", "penstock-.*"],
        importance=Importance.HIGH,
        doc="The topics not to mirror, in the same form.",
    ),
    ConfigKey(
        POLICY,
        Type.CLASS,
        default=DEFAULT_POLICY,
        importance=Importance.MEDIUM,
        doc="How topics are named: DefaultReplicationPolicy puts the source's alias in front, "
        "IdentityReplicationPolicy keeps the names.",
        recommended=(DEFAULT_POLICY, IDENTITY_POLICY),
    ),
    ConfigKey(
        SEPARATOR,
        default=".",
        importance=Importance.LOW,
        doc="What stands between the alias and the topic's name.",
    ),
    ConfigKey(
        REPLICATION,
        Type.INT,
        default=-1,
        importance=Importance.MEDIUM,
        doc="The replication factor of topics that are created; -1: the brokers' default.",
    ),
    ConfigKey(
        REFRESH,
        Type.BOOLEAN,
        default=True,
        importance=Importance.LOW,
        doc="Whether to look for new topics and partitions while it runs.",
    ),
    ConfigKey(
        REFRESH_SECONDS,
        Type.LONG,
        default=60,
        validator=at_least(1),
        importance=Importance.LOW,
        doc="How often to look for them, in seconds (MirrorMaker's default is 600).",
    ),
    ConfigKey(
        COPY_CONFIGS,
        Type.BOOLEAN,
        default=True,
        importance=Importance.LOW,
        doc="Whether a topic that is created gets the settings of the one that is read. Later "
        "changes are not copied.",
    ),
    ConfigKey(
        CONFIGS_EXCLUDE,
        Type.LIST,
        default=[
            r"follower\.replication\.throttled\.replicas",
            r"leader\.replication\.throttled\.replicas",
            r"message\.timestamp\.difference\.max\.ms",
            r"message\.timestamp\.type",
            r"unclean\.leader\.election\.enable",
            r"min\.insync\.replicas",
        ],
        importance=Importance.LOW,
        doc="Settings of topics that are not copied: names and regular expressions.",
    ),
    ConfigKey(
        ISOLATION,
        default="read_committed",
        validator=one_of_ignoring_case("read_committed", "read_uncommitted"),
        importance=Importance.MEDIUM,
        doc="read_committed leaves out what was written in transactions that were aborted. Any "
        "setting of the consumer can be given with the prefix consumer. or source.consumer.",
    ),
    ConfigKey(
        RESET,
        default="earliest",
        validator=one_of_ignoring_case("earliest", "latest"),
        importance=Importance.MEDIUM,
        doc="Where to begin a partition of which nothing was mirrored yet.",
    ),
    ConfigKey(
        ENABLED,
        Type.BOOLEAN,
        default=True,
        importance=Importance.LOW,
        doc="Must be true: pause the connector instead.",
    ),
)
