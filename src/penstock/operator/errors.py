"""Why a resource is not ready."""

# ruff: noqa: N818 - named for what is the case, as the conditions that show them

from __future__ import annotations

from penstock.sdk.errors import PenstockError


class Unready(PenstockError):
    """Base: the class's name is the condition's reason, the text its message."""


class InvalidResource(Unready):
    """The resource itself is wrong and must be edited."""


class NoSuchCluster(Unready):
    """The cluster that the resource names is not there, or cannot work."""


class TooOld(Unready):
    """The worker has no such endpoint."""


class ConnectorProblem(Unready):
    """The connector or tasks of it have FAILED, or are not yet where they should be."""
