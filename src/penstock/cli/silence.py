"""Distinguishes missing brokers from a topic without new records: either way, nothing comes."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

from penstock.cli.output import warn

if TYPE_CHECKING:
    from penstock.kafka.clients import Connection, GroupAdmin

QUIET_SECONDS = 5.0
"""When nothing has come for so long, the brokers are asked whether they answer."""
ANSWER_SECONDS = 2.0
TOLD_SECONDS = 5.0
"""When they have not answered for so long, a line says so,"""
GIVEN_UP_SECONDS = 30.0
"""and after so long, a read that has an end of its own gives up."""

Clock = Callable[[], float]


class Silence:
    """While nothing comes, checks now and then whether a broker ``answers``."""

    def __init__(
        self,
        answers: Callable[[], bool],
        servers: str,
        *,
        limited: bool,
        clock: Clock = time.monotonic,
    ) -> None:
        """``limited`` is a read that has an end of its own, which is waited for."""
        self._answers = answers
        self._servers = servers
        self._limited = limited
        self._clock = clock
        self._heard = clock()
        self._unanswered: float | None = None
        self._told = False

    def broken(self) -> None:
        """Something has come."""
        if self._told:
            warn("the brokers answer again")
        self._heard, self._unanswered, self._told = self._clock(), None, False

    def goes_on(self) -> None:
        """Nothing has come; BrokerUnavailable once it makes no sense to wait any longer."""
        asked = self._clock()
        if asked < self._heard + QUIET_SECONDS:
            return
        if self._answers():
            self.broken()
            return
        if self._unanswered is None:
            self._unanswered = asked
        self._tell(self._clock() - self._unanswered)

    def _tell(self, seconds: float) -> None:
        if self._limited and seconds >= GIVEN_UP_SECONDS:
            from penstock.kafka.errors import BrokerUnavailable

            raise BrokerUnavailable(
                f"No Kafka broker at {self._servers} has answered for {seconds:.0f} s: not all "
                "that was asked for was read. Check that the brokers run."
            )
        if seconds >= TOLD_SECONDS and not self._told:
            self._told = True
            since = datetime.now().astimezone() - timedelta(seconds=seconds)
            who = f"the brokers at {self._servers}"
            warn(f"no answer from {who} since {since:%H:%M:%S}; still trying")


def listening(connection: Connection, *, limited: bool) -> Silence:
    """With a client of its own, made when it is needed first."""
    from confluent_kafka import KafkaException

    from penstock.kafka import clients

    @cache
    def admin() -> GroupAdmin:
        return clients.admin(connection)

    def answers() -> bool:
        try:
            admin().describe_cluster(request_timeout=ANSWER_SECONDS).result(ANSWER_SECONDS + 1)
        except (KafkaException, TimeoutError):
            return False
        return True

    return Silence(answers, connection.bootstrap_servers, limited=limited)
