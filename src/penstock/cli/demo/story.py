"""What the demo does and checks, step by step, in SQL as any user would type it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from rich.markup import escape
from rich.panel import Panel

from penstock.cli.demo import statements as sql
from penstock.cli.demo.database import UsersDatabase
from penstock.cli.demo.prompt import Prompt
from penstock.cli.output import console, table
from penstock.cli.program import as_typed
from penstock.cli.progress import counting
from penstock.cli.service import Service
from penstock.client import ConnectClient, raise_if_failed, wait_until
from penstock.consumers import Consumer, NoSuchTopic
from penstock.kafka.clients import Connection
from penstock.sdk.errors import PenstockError
from penstock.sql.running.home import Home
from penstock.sql.running.session import SqlSession

STEP_SECONDS = 120.0
CHANGED = "UPDATE users SET name = 'Augusta', updated = clock_timestamp() WHERE userid = 'User_1'"
LATER = ("User_1", "User_2", "User_9")
View = tuple[Any, ...]


class DemoError(PenstockError):
    """Something that the demo promises did not hold."""

    next_step = "Run it again with --keep, and please report it, with the logs of that folder."


class Story:
    """Call order: `tell`, then `sum_up`."""

    def __init__(self, service: Service, database: UsersDatabase, views: int) -> None:
        connection = Connection(service.bootstrap_servers)
        self._servers = service.bootstrap_servers
        self._client = ConnectClient(service.url)
        self._home = Home(lambda: self._client, lambda: connection, service.worker.spark)
        self._database, self._views = database, views
        self._out = console()
        self._sql = Prompt(SqlSession(self._home), self._out)
        self._query = ""

    def tell(self) -> None:
        """Every step; DemoError or another error at the first that does not hold."""
        try:
            self._bring_users()
            self._declare_table()
            self._join()
            self._make_views()
            self._write_back()
            self._change_user()
            self._rewind()
            self._end()
        finally:
            self._home.close()
            self._client.close()

    def sum_up(self, seconds: float) -> None:
        """The result in a few lines."""
        program = escape(as_typed())
        told = [
            f"[bold]{self._views:,}[/] pageviews joined with users of PostgreSQL and written back:",
            "[bold green]none lost, none twice[/].",
            "A user changed in the database: the next pageview had the new name.",
            f"One offset altered: exactly [bold]{len(LATER)}[/] pageviews came again.",
            f"All of it in [bold]{seconds:.0f} s[/] and in SQL, every record moved by Spark.",
            "",
            f"Next:  [bold]{program} up[/]   a worker of your own, http://127.0.0.1:8083",
            f"       [bold]{program} sql[/]  a prompt on it",
        ]
        panel = Panel.fit("\n".join(told), title="Done", border_style="green")
        self._out.print(panel if self._out.is_terminal else "\n".join(["", *told]))

    def _bring_users(self) -> None:
        self._step("Users, in PostgreSQL")
        rows = [[userid, *rest] for userid, rest in self._database.users().items()]
        self._out.print(table(["USERID", "NAME", "CITY"], rows))
        self._step("PostgreSQL → topic: a source")
        self._sql(sql.create_source(self._database.settings))
        self._wait_for_users(len(rows))
        self._sql("SHOW EXTERNAL SOURCES;")
        self._sql(f"DESCRIBE {sql.SOURCE};")

    def _declare_table(self) -> None:
        self._step("A table over that topic, a stream over another")
        self._sql(sql.CREATE_TABLE)
        self._sql("DESCRIBE users_original;")
        self._sql(sql.CREATE_STREAM)

    def _join(self) -> None:
        self._step("The join: a query that goes on, exactly once")
        answer = self._sql(sql.JOIN)
        found = re.search(r"CSAS_\w+", answer)
        if found is None:
            raise DemoError(f"The query has no id: {answer}")
        self._query = found[0]

    def _make_views(self) -> None:
        self._step(f"{self._views:,} pageviews, seen live as they are joined")
        self._sql("SET 'auto.offset.reset' = 'earliest';")
        self._sql(sql.create_views(self._views))
        self._sql(sql.WATCH)

    def _write_back(self) -> None:
        self._step("Topic → PostgreSQL: a sink")
        self._sql(sql.create_sink(self._database.settings))
        written = self._written(self._views)
        self._check(written, self._joined(self._read_views()))
        self._say(f"{len(written):,} rows: every pageview once, with its user if known.")
        most = Counter((row[3] or "(no such user)", row[4] or "") for row in written).most_common(4)
        rows = [[name, city, f"{count:,}"] for (name, city), count in most]
        self._out.print(table(["NAME", "CITY", "PAGEVIEWS"], rows))

    def _change_user(self) -> None:
        self._step("A user changes in PostgreSQL: new pageviews show it")
        before = len(self._database.users())
        self._say(f"postgres=# {CHANGED};")
        self._database.run(CHANGED)
        self._wait_for_users(before + 1)
        self._sql(sql.MORE_VIEWS)
        self._later(1)

    def _rewind(self) -> None:
        self._step("Offsets are data: back by three pageviews")
        self._sql(f"STOP CONNECTOR {self._query};")
        self._sql(f"SHOW CONNECTOR OFFSETS {self._query};")
        (entry,) = self._client.offsets(self._query)
        offset = int(entry["offset"]["kafka_offset"]) - len(LATER)
        self._sql(sql.alter_offset(self._query, offset))
        self._sql(f"RESUME CONNECTOR {self._query};")
        self._later(2)

    def _end(self) -> None:
        self._step("The end")
        self._sql(f"TERMINATE {self._query};")
        self._sql(f"DROP EXTERNAL SOURCE {sql.VIEWS} TERMINATE;")
        self._sql(f"DROP EXTERNAL SINK {sql.SINK} TERMINATE;")
        self._sql(f"DROP EXTERNAL SOURCE {sql.SOURCE} TERMINATE;")
        if left := self._client.connectors():
            raise DemoError(f"These connectors should be gone: {', '.join(left)}")

    def _later(self, times: int) -> None:
        """The pageviews that were inserted have come so often, with users as they are now."""
        users = self._database.users()
        expected = [(user, "Page_later", users.get(user, (None,))[0]) for user in LATER] * times
        written = self._written(self._views + len(expected))
        later = [(row[0], row[2], row[3]) for row in written if row[2] == "Page_later"]
        self._check(later, expected)
        rows = [[userid, page, name or "(no such user)"] for userid, page, name in sorted(later)]
        self._out.print(table(["USERID", "PAGEID", "NAME"], rows))

    def _written(self, count: int) -> list[View]:
        self._follow("rows in PostgreSQL", count, lambda: len(self._database.written()))
        return self._database.written()

    def _joined(self, views: Iterable[View]) -> list[View]:
        users = self._database.users()
        return [(*view, *users.get(view[0], (None, None))) for view in views]

    def _read_views(self) -> list[View]:
        with Consumer(sql.VIEWS_TOPIC, bootstrap_servers=self._servers, until_end=True) as records:
            values = [json.loads(record.text or "{}") for record in records]
        return [(value["userid"], value["viewtime"], value["pageid"]) for value in values]

    def _wait_for_users(self, count: int) -> None:
        self._follow("records of users", count, lambda: self._records_of(sql.USERS_TOPIC))

    def _records_of(self, topic: str) -> int:
        try:
            with Consumer(topic, bootstrap_servers=self._servers, until_end=True) as records:
                return sum(1 for _ in records)
        except NoSuchTopic:
            return 0

    def _follow(self, title: str, total: int, look: Callable[[], int]) -> None:
        """Wait until ``look`` has reached ``total``, unless a connector fails on the way."""
        with counting(title, total) as tell:

            def reached() -> bool:
                count = look()
                tell(count)
                if count < total:
                    for name in self._client.connectors():
                        raise_if_failed(self._client, name)
                return count >= total

            wait_until(reached, f"{total:,} {title}", STEP_SECONDS)

    def _check(self, found: list[View], expected: list[View]) -> None:
        missing, extra = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
        if missing or extra:
            raise DemoError(
                f"Not exactly once: {missing.total():,} rows are missing, {extra.total():,} are "
                f"too many, among them {next(iter([*missing, *extra]))}."
            )

    def _step(self, title: str) -> None:
        self._out.print(f"\n[bold cyan]▸ {escape(title)}[/]", soft_wrap=True)

    def _say(self, text: str) -> None:
        self._out.print(f"  {text}", markup=False, soft_wrap=True)
