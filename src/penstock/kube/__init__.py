"""A small client of the Kubernetes API: what the operator and `penstock deploy` need of it."""

from penstock.kube.api import KubeApi
from penstock.kube.config import KubeConfig, load_config
from penstock.kube.errors import KubeError, KubeUnavailable

__all__ = ["KubeApi", "KubeConfig", "KubeError", "KubeUnavailable", "load_config"]
