"""Leases and reports as messages."""

from __future__ import annotations

from typing import TypeVar

from penstock.config.providers import (
    DirectoryProvider,
    EnvVarProvider,
    FileProvider,
    Provider,
)
from penstock.engine.carriers import classes
from penstock.engine.carriers.codec import Codec, CodecError, Json
from penstock.engine.lease.lease import Lease, Membership, Report, SinkLease, SourceLease
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.engine.pipeline.recipe import Recipe

R = TypeVar("R", bound=Report)
KINDS: dict[str, type[Lease]] = {"source": SourceLease, "sink": SinkLease}

_CODEC = Codec(
    name=classes.name_of,
    load=classes.load,
    variants={
        Pipeline | Recipe: {"Recipe": Recipe},  # type: ignore[dict-item]  # a union stands for both
        Provider: {
            each.__name__: each for each in (FileProvider, DirectoryProvider, EnvVarProvider)
        },
    },
)


def encode_lease(lease: Lease) -> Json:
    """A lease as an order."""
    kind = next(name for name, cls in KINDS.items() if isinstance(lease, cls))
    return {"kind": kind, "lease": _CODEC.encode(lease)}


def decode_lease(order: Json) -> Lease:
    """The lease of an order; CodecError if it is invalid, or needs a plugin not installed here."""
    try:
        kind, lease = KINDS[order["kind"]], order["lease"]
    except (KeyError, TypeError) as error:
        raise CodecError(f"not an order: {error}") from error
    return _CODEC.decode(kind, lease)


def encode_membership(membership: Membership) -> Json:
    """The worker's membership as a part of its states."""
    return _CODEC.encode(membership)


def decode_membership(told: Json) -> Membership:
    """The membership in a state of the worker."""
    return _CODEC.decode(Membership, told)


def encode_report(report: Report) -> Json:
    """A report as a message."""
    return _CODEC.encode(report)


def decode_report(message: Json) -> Report:
    """The report of a message."""
    return decode_report_as(Report, message)


def decode_report_as(kind: type[R], message: Json) -> R:
    """The report of a message, of this kind."""
    return _CODEC.decode(kind, message)
