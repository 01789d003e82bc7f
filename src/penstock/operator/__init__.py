"""Connectors and their offsets as Kubernetes resources, compatible with Strimzi's.

It talks to workers, Penstock's or Kafka Connect's, over REST only. `connector.py` and `offsets.py`
reconcile one resource and know nothing of Kubernetes (`penstock apply` uses them too);
`controller.py` does so for all resources of a cluster, and `watch.py` reports their changes.
"""
