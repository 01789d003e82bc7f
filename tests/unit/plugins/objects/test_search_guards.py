"""What is listed when, and what of it is noted: each guard of the search by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from penstock.plugins.objects import source_marks, source_search
from penstock.plugins.objects.source_marks import Mark
from penstock.plugins.objects.source_offsets import Committed, mark_partition
from penstock.plugins.objects.source_search import Page, Rhythm, Search
from penstock.plugins.objects.stored_objects import ListedObject
from penstock.sdk.offsets import OffsetReader

PAGE = 2
END, WHOLE, LOOK_BACK = 5.0, 100.0, 40.0
NOW = 1_000_000.0


class Store:
    """Notes behind which key it is asked; a page may take long."""

    def __init__(self, *keys: str) -> None:
        self.keys = sorted(keys)
        self.now = NOW
        self.asked: list[str] = []
        self.given = 0
        self.slow: Callable[[], None] = lambda: None

    def pages(self, after: str = "") -> Iterator[Page]:
        self.asked.append(after)
        left = [key for key in self.keys if key > after]
        for first in range(0, len(left), PAGE):
            self.given += 1
            self.slow()
            yield [_object(key) for key in left[first : first + PAGE]]
        if not left:
            self.given += 1
            yield []


def _object(key: str) -> ListedObject:
    return ListedObject(key, 1, int((NOW - 5000) * 1000), f"etag of {key}")


def _number(key: str) -> int | None:
    """By the first letter; ``x`` is to be read by nobody."""
    return None if key.startswith("x") else ord(key[0]) - ord("a")


def search(store: Store, whole: float = WHOLE) -> Search:
    rhythm = Rhythm(END, whole, LOOK_BACK)
    return Search(store, _number, rhythm, lambda: store.now)


def committed(**marks: str) -> Committed:
    """Marks by the letters of their virtual buckets, with a horizon that is beyond all objects."""
    found = {ord(letter) - ord("a"): key for letter, key in marks.items()}
    horizon = int(NOW * 1000)
    offsets = [(mark_partition("b", n), Mark(key, horizon).offset()) for n, key in found.items()]
    return Committed(OffsetReader(offsets), "b")


def backlog(found: Search, done: Committed) -> list[str]:
    return [noted.object.key for noted in found.backlog(done)]


def test_without_marks_there_is_no_end_to_list() -> None:
    store = Store("a1", "a2", "a3")
    found = search(store)
    found.go_on(committed())
    assert store.asked == [""]
    assert backlog(found, committed()) == ["a1", "a2", "a3"]
    store.now += 2 * END
    found.go_on(committed())
    assert store.asked == [""], "nothing is marked, and the whole bucket is not due"


def test_the_end_is_listed_from_the_lowest_mark_at_its_interval() -> None:
    store = Store("a1", "a2", "b1", "b2")
    found, done = search(store), committed(a="a2", b="b1")
    found.go_on(done)
    assert sorted(store.asked) == ["", "a2"]
    found.go_on(done)
    store.now += END - 1
    found.go_on(done)
    assert len(store.asked) == 2
    store.now += 1
    found.go_on(done)
    assert len(store.asked) == 3
    assert backlog(found, done) == ["b2"]


def test_the_end_waits_for_the_first_listing_of_the_whole_bucket(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What it found would not have its virtual bucket read from the start."""
    monkeypatch.setattr(source_search, "MOST_OBJECTS", 3)
    store = Store(*(f"a{n}" for n in range(8)))
    found = search(store)
    found.go_on(committed())
    store.now += 2 * END
    done = committed(a="a1")
    assert backlog(found, done) == ["a2"]
    found.go_on(done)
    assert "a1" not in store.asked, "the first listing goes on, and nothing else"
    assert [noted.since for noted in found.backlog(done)] == [NOW] * 3


def test_a_later_listing_does_not_say_since_when() -> None:
    store = Store("a1", "a2")
    found, done = search(store), committed(a="a1")
    found.go_on(done)
    assert [noted.since for noted in found.backlog(done)] == [None]


def test_a_whole_listing_goes_on_where_it_paused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Full in the middle of a page: the rest of the page is listed again, and nothing left out."""
    monkeypatch.setattr(source_search, "MOST_OBJECTS", 3)
    store = Store(*(f"a{n}" for n in range(8)))
    found = search(store)
    seen: list[str] = []
    for last in ("", "a2", "a5"):
        done = committed(a=last) if last else committed()
        backlog(found, done)
        found.go_on(done)
        seen += backlog(found, done)
    assert seen == [f"a{n}" for n in range(8)]
    assert found.complete is not None


@pytest.mark.parametrize("marked", [False, True])
def test_a_slow_store_is_left_after_a_second(marked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 1000, 2))
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock)))
    store = Store(*(f"a{n}" for n in range(20)))
    found = search(store, whole=0)
    if marked:
        found.complete, found._whole_due = None, source_search.NEVER
    done = committed(a="a0") if marked else committed()
    found.go_on(done)
    assert store.given == 1
    found.go_on(done)
    assert store.given == 2, "the next call goes on"


def test_the_whole_bucket_is_listed_once_if_that_is_wanted() -> None:
    store = Store("a1")
    found = search(store, whole=0)
    found.go_on(committed())
    store.now += 10 * WHOLE
    found.go_on(committed())
    assert store.asked == [""]


def test_the_whole_bucket_is_listed_at_its_interval() -> None:
    store = Store("a1")
    found = search(store)
    found.go_on(committed())
    store.now += WHOLE - 1
    found.go_on(committed())
    assert store.asked == [""]
    store.now += 1
    found.go_on(committed())
    assert store.asked == ["", ""]


def test_no_second_listing_begins_while_one_is_paused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_search, "MOST_OBJECTS", 2)
    store = Store(*(f"a{n}" for n in range(6)))
    found = search(store)
    for _ in range(4):
        found.go_on(committed())
        store.now += 2 * WHOLE
    assert store.asked[1:] == ["a1"] * 3
    assert found.complete is None


def test_a_backlog_ends_by_the_bytes_of_its_keys_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_search, "MOST_KEY_BYTES", 10)
    store = Store("a-long-1", "a-long-2", "a-long-3")
    found = search(store)
    found.go_on(committed())
    assert backlog(found, committed()) == ["a-long-1", "a-long-2"]
    found.go_on(committed(a="a-long-2"))
    assert backlog(found, committed(a="a-long-2")) == [], "finished ones count until they are asked"
    found.go_on(committed(a="a-long-2"))
    assert backlog(found, committed(a="a-long-2")) == ["a-long-3"]


def test_what_is_noted_keeps_the_time_it_was_noted_with() -> None:
    store = Store("a1", "b1")
    found = search(store)
    found.go_on(committed())
    first = found.backlog(committed(b="b1"))
    store.now += WHOLE
    found.go_on(committed(b="b1"))
    assert found.backlog(committed(b="b1")) == first


def test_names_that_nobody_reads_are_not_noted() -> None:
    found = search(Store("a1", "x1"))
    found.go_on(committed())
    assert backlog(found, committed()) == ["a1"]


def test_held_virtual_buckets_are_dropped_and_not_noted() -> None:
    store = Store("a1", "b1")
    found = search(store)
    found.go_on(committed())
    found.hold(frozenset({1}))
    assert backlog(found, committed()) == ["a1"]
    store.keys.append("b2")
    store.now += WHOLE
    found.go_on(committed())
    assert backlog(found, committed()) == ["a1"]
    assert found.complete is not None
    assert found.complete.left_out == {1}


def test_a_listing_under_way_has_left_out_what_is_held_since(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source_search, "MOST_OBJECTS", 2)
    found = search(Store("a1", "b1", "b2"))
    found.go_on(committed())
    found.hold(frozenset({1}))
    found.go_on(committed())
    assert found.complete is not None
    assert found.complete.left_out == {1}


def test_what_is_no_longer_held_is_looked_for_at_once() -> None:
    store = Store("a1", "b1")
    found = search(store)
    found.hold(frozenset({1}))
    found.go_on(committed())
    found.hold(frozenset())
    found.go_on(committed())
    assert backlog(found, committed()) == ["a1", "b1"]


def crowded(recent: int, key: str = "a1") -> Committed:
    """A mark that remembers so many singly."""
    mark = Mark(key, 0)
    for number in range(recent):
        mark.finish(ListedObject(f"a0{number}", 1, int(NOW * 1000), f"e{number}"))
    return Committed(OffsetReader([(mark_partition("b", 0), mark.offset())]), "b")


def test_a_crowded_virtual_bucket_waits_and_is_found_when_it_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source_marks, "CROWDED", 3)
    store = Store("a1", "a5", "a6", "a7", "a8", "a9")
    found = search(store)
    found.go_on(crowded(3))
    assert backlog(found, crowded(3)) == ["a1"]
    found.go_on(crowded(2))
    assert backlog(found, crowded(2)) == ["a1", "a5", "a6", "a7", "a8", "a9"]


def test_while_one_is_crowded_the_whole_bucket_is_listed_sooner(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source_marks, "CROWDED", 3)
    store = Store("a1")
    found = search(store, whole=10_000)
    found.go_on(crowded(3))
    found.complete = None
    found.go_on(crowded(3))
    store.now += LOOK_BACK / 4
    found.go_on(crowded(3))
    assert found.complete is not None


def test_the_end_is_not_listed_again_from_the_mark_while_it_grows() -> None:
    """Pages that were taken as a whole are behind the floor, but for the last of them."""
    store = Store(*(f"a{n}" for n in range(9)))
    found, done = search(store, whole=0), committed(a="a0")
    found._whole_due = source_search.NEVER
    found.go_on(done)
    store.keys.append("a9")
    store.now += END
    found.go_on(done)
    assert store.asked == ["a0", "a6"]
    assert backlog(found, done) == [f"a{n}" for n in range(1, 10)]


def test_an_end_that_was_not_noted_as_a_whole_is_listed_again_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source_search, "MOST_OBJECTS", 3)
    found = search(Store(*(f"a{n}" for n in range(9))))
    found._whole_due = source_search.NEVER
    for last, noted in (("a0", ["a1", "a2", "a3"]), ("a3", ["a4", "a5", "a6"])):
        done = committed(a=last)
        backlog(found, done)
        found.go_on(done)
        assert backlog(found, done) == noted


def test_what_is_no_longer_held_is_found_though_a_listing_has_passed_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without a mark of its own, nothing but another listing of the whole bucket finds it."""
    monkeypatch.setattr(source_search, "MOST_OBJECTS", 2)
    found = search(Store("a1", "b1", "c1", "c2", "c3"), whole=0)
    found.hold(frozenset({0}))
    found.go_on(committed())
    assert backlog(found, committed()) == ["b1", "c1"]
    found.hold(frozenset())
    done = committed(b="b1", c="c3")
    backlog(found, done)
    found.go_on(done)
    found.go_on(done)
    assert backlog(found, done) == ["a1"]
