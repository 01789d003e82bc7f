"""Listings: what is asked of a store, and what is taken of its answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import obstore
import pytest
from obstore.store import LocalStore, MemoryStore

from penstock.plugins.objects import source_listing
from penstock.plugins.objects.source_listing import Listing
from penstock.plugins.objects.store import Storage
from penstock.sdk import UserError

KEYS = ["a/1", "a/2", "a0", "b/0", "b/1", "b/2", "b0", "ba/1", "c/1"]


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_listing, "PAGE", 2)


def memory(keys: list[str], data: bytes = b"x") -> MemoryStore:
    store = MemoryStore()
    for key in keys:
        obstore.put(store, key, data)
    return store


def listed(store: Any, prefix: str = "", after: str = "") -> list[str]:
    pages = Listing(Storage(store, "bucket", prefix)).pages(after)
    return [each.key for page in pages for each in page]


@pytest.mark.parametrize("prefix", ["", "a", "a/", "b", "b/", "b/1", "ba", "z", "b/1/2"])
@pytest.mark.parametrize("after", ["", "a", "a/1", "b/1", "b0", "z"])
@pytest.mark.usefixtures("small_pages")
def test_what_begins_with_the_prefix_and_is_behind_a_key(prefix: str, after: str) -> None:
    expected = [key for key in KEYS if key.startswith(prefix) and key > after]
    assert listed(memory(KEYS), prefix, after) == expected


def test_empty_objects_are_left_out() -> None:
    store = memory(["a", "b"])
    obstore.put(store, "aa", b"")
    assert listed(store) == ["a", "b"]


class Answering:
    """In place of obstore's list: notes how it is asked, and answers with what it has."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, pages: list[list[str]]) -> None:
        self.pages = pages
        self.asked: list[dict[str, Any]] = []
        self.taken = 0
        self._real = obstore.list
        monkeypatch.setattr(obstore, "list", self)

    def __call__(self, store: Any, **how: Any) -> Iterator[list[Any]]:
        self.asked.append(how)
        metas = {meta["path"]: meta for page in self._real(store) for meta in page}
        for page in self.pages:
            self.taken += 1
            yield [metas[key] for key in page]


def test_a_listing_begins_at_the_prefix_or_behind_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    answering = Answering(monkeypatch, [])
    for prefix, after in [("", ""), ("in/b", ""), ("in/b", "in/b7"), ("in/b", "a"), ("in/", "")]:
        listed(memory([]), prefix, after)
    assert [(each["prefix"], each["offset"]) for each in answering.asked] == [
        (None, None),
        ("in", "in/"),
        ("in", "in/b7"),
        ("in", "in/"),
        ("in", "in"),
    ]
    assert {each["chunk_size"] for each in answering.asked} == {1000}


def test_no_page_is_asked_for_behind_the_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    answering = Answering(monkeypatch, [["a0", "b/0"], ["b/1", "b0"], ["ba/1"], ["c/1"]])
    assert listed(memory(KEYS), "b/") == ["b/0", "b/1"]
    assert answering.taken == 2


def test_pages_before_the_prefix_do_not_end_the_listing(monkeypatch: pytest.MonkeyPatch) -> None:
    Answering(monkeypatch, [["a/1", "a/2"], [], ["a0"], ["b/0"]])
    assert listed(memory(KEYS), "b/") == ["b/0"]


def test_a_store_that_answers_from_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not every one that speaks S3 knows start-after."""
    Answering(monkeypatch, [KEYS])
    assert listed(memory(KEYS), "", "b/1") == ["b/2", "b0", "ba/1", "c/1"]


def test_a_folder_is_listed_in_the_order_of_keys(tmp_path: Path) -> None:
    store = LocalStore(prefix=tmp_path)
    for key in reversed(KEYS):
        obstore.put(store, key, b"x")
    assert listed(store) == sorted(KEYS)


@pytest.mark.usefixtures("small_pages")
def test_a_folder_is_given_a_page_at_a_time(tmp_path: Path) -> None:
    store = LocalStore(prefix=tmp_path)
    for key in KEYS:
        obstore.put(store, key, b"x")
    pages = [len(page) for page in Listing(Storage(store, "bucket")).pages()]
    assert pages == [2, 2, 2, 2, 1]


def test_what_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: Any, **__: Any) -> Any:
        raise FileNotFoundError("no such folder")

    monkeypatch.setattr(obstore, "list", missing)
    with pytest.raises(UserError, match=r"Listing objects below in/: there is no bucket\. Create"):
        listed(MemoryStore(), "in/")
