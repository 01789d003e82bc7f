"""Who sends the request that is being answered, and what they may do."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from enum import IntEnum


class Role(IntEnum):
    """What a caller may do; each may do all that those before it may."""

    READ = 1
    """Look at everything but secrets."""
    OPERATE = 2
    """Configs, lifecycle and offsets of connectors."""
    ADMIN = 3
    """The worker itself."""

    @staticmethod
    def named(word: str) -> Role:
        """The role that a users file calls ``word``; KeyError if it is none."""
        return Role[word.upper()]

    @property
    def word(self) -> str:
        """As a users file writes it."""
        return self.name.lower()


@dataclass(frozen=True)
class Caller:
    """The sender of a request."""

    name: str
    role: Role
    address: str = ""
    certificate: str = ""
    """The subject of the client certificate that came with the request."""
    known: bool = True
    """Whether they have proved who they are."""
    peer: str = ""
    """The worker of the cluster that has signed the request."""
    own_account: bool = False
    """Whether that worker asks for itself, and not for a user of its own."""

    @property
    def may_see_secrets(self) -> bool:
        """Where secrets are shown at all (``rest.config.secrets=stored``)."""
        return self.known and self.role >= Role.OPERATE


ANYBODY = Caller("anonymous", Role.ADMIN, known=False)
"""Everyone, where the worker has no users."""

_caller: ContextVar[Caller] = ContextVar("penstock_rest_caller", default=ANYBODY)


def current() -> Caller:
    """The caller of the request that this thread or task answers."""
    return _caller.get()


def set_current(caller: Caller) -> None:
    """For the rest of this request, and for the threads that work for it."""
    _caller.set(caller)
