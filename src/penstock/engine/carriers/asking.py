"""Rule 10 for the producing stages of frame turns: each asks whether its turn is still wanted.

A stage that starts late would initialise its producer after its turn was fenced. The question is
the handshake of carriers, and nothing more: the worker admits a stage of a turn that it wants, and
dismisses any other. No answer is a no.
"""

from __future__ import annotations

import logging
import secrets
import socket
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from penstock.engine.carriers.channel import Channel
from penstock.engine.carriers.encryption_choice import encryption
from penstock.engine.carriers.frames import Message, tuned
from penstock.engine.carriers.handshake import Identity, introduce
from penstock.engine.carriers.hub import Address, Hub

log = logging.getLogger(__name__)

ASK_SECONDS = 10.0
REVOKED = "this turn has been revoked"


@dataclass(frozen=True)
class Question:
    """Asks its worker when it is called. Part of the closure of a turn's Spark job."""

    address: Address
    turn: str
    secret: str
    certificate: str = ""

    def __call__(self) -> bool:
        """Whether the turn is wanted; False without an answer."""
        encrypt = encryption(self.certificate)
        place = (self.address.host, self.address.port)
        try:
            with socket.create_connection(place, timeout=ASK_SECONDS) as connection:
                stream = encrypt(tuned(connection)) if encrypt else tuned(connection)
                introduce(stream, Identity(self.turn, uuid.uuid4().hex), self.secret)
        except OSError as error:
            log.info("the worker does not confirm this turn: %s", error)
            return False
        return True


class Answerer:
    """The worker's end: answers the stages of one turn, until it is revoked.

    Implements ``hub.Guest``. ``wanted`` is asked for each of them, on the connection's thread.
    """

    def __init__(self, hub: Hub, certificate: str, wanted: Callable[[], bool]) -> None:
        self.carrier = uuid.uuid4().hex
        self.secret = secrets.token_hex(32)
        self._hub = hub
        self._wanted = wanted
        self._revoked = False
        self.question = Question(hub.address, self.carrier, self.secret, certificate)
        hub.expect(self)

    def revoke(self) -> None:
        """Never say yes again. To be called before the turn's ids are fenced."""
        self._revoked = True
        self._hub.strike(self)

    def confirms(self) -> bool:
        """Whether the turn is wanted, as a stage would be told."""
        try:
            # In this order: a turn that was revoked meanwhile is not confirmed.
            return self._wanted() and not self._revoked
        except Exception as error:  # noqa: BLE001 (whatever it is, the answer is no)
            log.info("a turn could not be confirmed: %s", error)
            return False

    def refusal(self, identity: Identity) -> str:
        """Why a stage may not begin; "" if it may."""
        return "" if self.confirms() else REVOKED

    def attach(self, channel: Channel) -> None:
        """The answer has been given."""
        channel.close()

    def detach(self, channel: Channel) -> None:
        """There is nothing to end."""

    def state(self) -> Message:
        """Nothing is said beyond the answer."""
        return {}

    def hear(self, state: Message) -> None:
        """Nothing is heard beyond the question."""

    def close(self) -> None:
        """Admit no more stages."""
        self._revoked = True
