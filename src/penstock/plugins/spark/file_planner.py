"""What a turn reads of files: found by listings, cut to a turn, dealt out to tasks."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from penstock.plugins.files.file_jail import Jail
from penstock.plugins.objects.source_marks import Mark
from penstock.plugins.objects.source_offsets import Committed, ObjectEntry
from penstock.plugins.objects.source_plan import Dealer, virtual_bucket
from penstock.plugins.objects.source_search import Search
from penstock.plugins.objects.source_turn import Turn
from penstock.plugins.objects.stored_objects import ListedObject
from penstock.plugins.spark.file_frames import (
    FileFrames,
    SchemasDiffer,
    UnreadableError,
    own_session,
)
from penstock.plugins.spark.file_reading import DamagedFile, FileOrder, FileReading, PlannedFile
from penstock.plugins.spark.hadoop_files import HadoopFiles
from penstock.plugins.spark.row_records import RowRecords
from penstock.plugins.spark.source_config import (
    FORMAT,
    LIST_INTERVAL,
    PATH,
    SCHEMA,
    SELECT,
    TOPIC,
    format_options,
    ignores_changes,
    record_columns,
    rhythm_of,
)
from penstock.sdk.distribution.by_bytes import BytesLeft
from penstock.sdk.frame_sources import FrameShare, SourceTurn
from penstock.sdk.offsets import OffsetReader
from penstock.sdk.sources.s3_offset_entry import DONE
from penstock.sdk.sql_expressions import expressions

log = logging.getLogger(__name__)

MOST_FILES: Final = 1000
LAST_KEY: Final = "\U0010ffff"
MOST_BYTES: Final = 1 << 30
"""Of one turn; a file is never cut."""
Found = tuple[int, ListedObject]


class FilePlanner:
    """Plans the turns of one connector. The calls of its turns come one at a time."""

    def __init__(self, config: Mapping[str, str], values: Mapping[str, Any], tasks: int) -> None:
        self._values = values
        self._bucket = values[PATH]
        self._tasks = tasks
        self._files = HadoopFiles(values[PATH], Jail.of(config))
        self._strategy = BytesLeft()
        self._strategy.configure({})
        self._rhythm = rhythm_of(values)
        self._frames = FileFrames(
            values[FORMAT],
            values[SCHEMA],
            format_options(config),
            expressions(SELECT, values[SELECT]),
            record_columns(values),
        )
        self._session: tuple[Any, Any] = None, None
        self._due = 0.0
        self._dealer = Dealer(self._strategy)
        self._search = self._new_search()
        self._ended = True
        self._tolerant = config.get("errors.tolerance", "none").strip() == "all"
        self._planned: list[ListedObject] = []
        self._damaged: dict[ListedObject, str] = {}

    def _new_search(self) -> Search:
        return Search(self._files, self.number_of, self._rhythm)

    def number_of(self, key: str) -> int | None:
        """The virtual bucket of a file."""
        return virtual_bucket(self._strategy, key)

    def is_due(self) -> bool:
        """Whether it is time to list, or more is known to be there."""
        return time.monotonic() >= self._due

    def turned(self, records: int) -> None:
        """A turn has ended well, with so many records."""
        self._ended = True

    def failed(self, text: str) -> bool:
        """Whether the file that Spark could not read is found, and may be a dead letter."""
        if not self._tolerant:
            return False
        found = [each for each in self._planned if self._is_named(each, text)]
        reason = next((line for line in text.splitlines() if "FAILED_READ_FILE" in line), text)
        self._damaged |= dict.fromkeys(found, reason[:1000])
        return bool(found)

    def _is_named(self, listed: ListedObject, text: str) -> bool:
        """Spark writes a path as it is, or encoded."""
        whole = urlsplit(self._files.encoded(listed.key)).path
        names = {whole, unquote(whole)}
        return any(re.search(re.escape(name) + r"(?=[\s.,]\s|$)", text, re.M) for name in names)

    def plan(self, spark: Any, turn: SourceTurn) -> list[FrameShare]:
        """The shares of a turn; none if there is nothing to read."""
        if not self._ended:
            # What was listed may be the reason for which the last turn was lost.
            self._search = self._new_search()
        self._ended = False
        self._files.use(spark)
        self._search.hold(self._dealer.held(turn.tasks, self._tasks))
        committed = self._committed(turn.offsets)
        self._search.go_on(committed)
        work = self._work(committed)
        shares, more = self._shares_of_one_schema(spark, work, committed, turn.tasks)
        self._due = time.monotonic() + (0 if more else self._values[LIST_INTERVAL] / 1000)
        self._ended = not shares
        return shares

    def _shares_of_one_schema(
        self, spark: Any, work: Work, committed: Committed, tasks: Sequence[int]
    ) -> tuple[list[FrameShare], bool]:
        """Files whose columns cannot be merged are read in turns of their own."""
        while True:
            try:
                return self._shares(spark, work, committed, tasks), work.more
            except UnreadableError as error:
                if not self.failed(str(error)):
                    raise
            except SchemasDiffer:
                if len(work.found) == 1:
                    raise
                half = work.found[: len(work.found) // 2]
                work = Work(half, work.begin, {}, more=True)

    def _committed(self, offsets: OffsetReader) -> Committed:
        return Committed(offsets, self._bucket, late=not ignores_changes(self._values))

    def _work(self, committed: Committed) -> Work:
        found = Turn(committed, self._search, self.number_of, self._rhythm.look_back)
        begun = committed.begun
        # What was begun may be far ahead of the listing: the mark must not pass what lies between.
        known = [each for each in found.found if self._known(each[1].key, begun)]
        chosen, more = _cut(known)
        advance = {} if more else found.advance
        if not more:
            self._search.complete = None
        more = more or not self._search.has_reached(LAST_KEY)
        return Work(chosen, found.begin(), advance, more)

    def _known(self, key: str, begun: Mapping[str, ObjectEntry]) -> bool:
        return key not in begun or self._search.has_reached(key)

    def _shares(
        self, spark: Any, work: Work, committed: Committed, tasks: Sequence[int]
    ) -> list[FrameShare]:
        left = dict.fromkeys(work.advance, 0)
        for number, listed in work.found:
            left[number] = left.get(number, 0) + listed.size
        if not left:
            return []
        dealt = self._dealer.deal(left, tasks, self._tasks)
        orders = [self._order(work, committed, numbers) for numbers in dealt]
        paths = [self._paths(order) for order in orders]
        session = self._own_session(spark)
        every = [path for each in paths for path in each]
        self._planned = [file.listed for order in orders for file in order.files.values()]
        schema = self._frames.schema(session, every) if every else None
        if schema is not None:
            self._frames.refuse_hidden(schema, [listed.key for listed in self._planned])
        records = RowRecords(self._values[TOPIC])
        return [
            FrameShare(
                task,
                FileReading(order, records),
                self._frames.frame(session, mine, schema) if mine and schema is not None else None,
                f"{len(mine)} files",
            )
            for task, order, mine in zip(tasks, orders, paths, strict=True)
            if order.marks or order.gone
        ]

    def _own_session(self, spark: Any) -> Any:
        if self._session[0] is not spark:
            self._session = spark, own_session(spark)
        return self._session[1]

    def _paths(self, order: FileOrder) -> list[str]:
        return [self._files.address(file.listed.key) for file in order.files.values()]

    def _order(self, work: Work, committed: Committed, numbers: frozenset[int]) -> FileOrder:
        files: dict[str, PlannedFile] = {}
        settled: list[Found] = []
        damaged: list[DamagedFile] = []
        gone: list[str] = []
        mine = [(number, listed) for number, listed in work.found if number in numbers]
        for number, listed in mine:
            entry = committed.begun.get(listed.key)
            now = listed if entry is None else self._now(listed, entry)
            if now is None:
                gone.append(listed.key)
            elif entry is not None and entry.get_bool(DONE) and entry.is_about(now):
                settled.append((number, now))
            elif now in self._damaged:
                skip = self._skip(entry, now)
                damaged.append(DamagedFile(number, now, skip, self._damaged[now]))
            else:
                skip = self._skip(entry, now)
                files[self._files.encoded(now.key)] = PlannedFile(number, now, skip)
        kept = {number for number, _ in mine} | (work.advance.keys() & numbers)
        marks = {number: self._mark(number, work, committed) for number in sorted(kept)}
        advance = {number: work.advance[number] for number in kept & work.advance.keys()}
        return FileOrder(
            self._bucket, files, tuple(settled), tuple(damaged), tuple(gone), marks, advance
        )

    def _now(self, listed: ListedObject, entry: ObjectEntry) -> ListedObject | None:
        """The file of an offset as it is now."""
        now = self._files.find(listed.key)
        if now is None and not entry.get_bool(DONE):
            count = entry.record_count
            log.warning("file %s is gone, after %d of its rows were read", listed.key, count)
        return now

    def _skip(self, entry: ObjectEntry | None, now: ListedObject) -> int:
        if entry is None or not entry.record_count:
            return 0
        if entry.is_about(now) or ignores_changes(self._values):
            return entry.record_count
        log.warning(
            "file %s has changed after %d of its rows were read; it is read again",
            now.key,
            entry.record_count,
        )
        return 0

    def _mark(self, number: int, work: Work, committed: Committed) -> Mapping[str, Any]:
        mark = committed.marks.get(number) or Mark(horizon=work.begin.get(number, 0))
        return mark.offset()


class Work:
    """What a turn is to do."""

    def __init__(
        self,
        found: Sequence[Found],
        begin: Mapping[int, int],
        advance: Mapping[int, int],
        more: bool,
    ) -> None:
        self.found = list(found)
        self.begin = begin
        self.advance = advance
        self.more = more


def _cut(found: Sequence[Found]) -> tuple[list[Found], bool]:
    """The first of them, as much as a turn reads, and whether there are more."""
    chosen = list(_first(found))
    return chosen, len(chosen) < len(found)


def _first(found: Sequence[Found]) -> Iterator[Found]:
    size = 0
    for count, each in enumerate(found):
        size += each[1].size
        if count and (count >= MOST_FILES or size > MOST_BYTES):
            return
        yield each
