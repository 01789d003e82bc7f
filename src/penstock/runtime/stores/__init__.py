"""The state of the cluster, stored in Kafka: configs, offsets, statuses, members."""
