"""Output of turns in its place: as a whole, once, and never overwritten."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.engine.frames.errors import WriteError
from penstock.engine.frames.places import HadoopPlaces, LocalPlaces, Places, exactly_once, places

pytestmark = pytest.mark.heavy

Make = Callable[[Path], Places]


@pytest.fixture(params=["local", "hadoop"])
def make(request: pytest.FixtureRequest, spark: SparkSession) -> Make:
    """Both kinds below a folder; Hadoop's file system is its own for local files."""
    if request.param == "local":
        return LocalPlaces
    return lambda folder: HadoopPlaces(spark, folder.as_uri())


def _write(made: Places, text: str, worker_epoch: int, turn: str = "e0-a") -> None:
    folder = Path(made.staging(turn, worker_epoch).removeprefix("file://").removeprefix("file:"))
    folder.mkdir(parents=True)
    (folder / "part").write_text(text)


def test_what_was_written_is_put_in_its_place(make: Make, tmp_path: Path) -> None:
    made = make(tmp_path / "out")
    assert not made.happened("e0-a")
    _write(made, "one", 1)
    assert not made.happened("e0-a"), "written aside is not in place"
    assert made.put("e0-a", 1)
    assert made.happened("e0-a")
    assert (tmp_path / "out/turn=e0-a/part").read_text() == "one"
    assert not list((tmp_path / "out/_staging").glob("e0-a*"))


def test_a_thawed_worker_changes_nothing_of_its_heirs(make: Make, tmp_path: Path) -> None:
    made = make(tmp_path / "out")
    _write(made, "of the frozen one", 1)
    _write(made, "of the heir", 2)
    assert made.put("e0-a", 2)
    assert not made.put("e0-a", 1)
    assert (tmp_path / "out/turn=e0-a/part").read_text() == "of the heir"
    names = {file.name for file in (tmp_path / "out/turn=e0-a").iterdir()}
    assert names <= {"part", "_SUCCESS"}, "nor is anything put into the folder"


def test_what_an_earlier_try_has_left_is_not_mixed_in(make: Make, tmp_path: Path) -> None:
    made = make(tmp_path / "out")
    _write(made, "half", 1)
    _write(made, "whole", 1)
    assert made.put("e0-a", 1)
    assert (tmp_path / "out/turn=e0-a/part").read_text() == "whole"


def test_what_killed_workers_have_left_is_deleted_once_the_turn_is_in_its_place(
    make: Make, tmp_path: Path
) -> None:
    """Not before: one that is only frozen would put what is left of it in its place."""
    made = make(tmp_path / "out")
    for epoch, turn in ((1, "e0-a"), (2, "e0-a"), (3, "e0-a"), (1, "e0-b")):
        _write(made, "left", epoch, turn)

    def left() -> set[str]:
        return {folder.name for folder in (tmp_path / "out/_staging").iterdir()}

    made.clear("e0-a", 4)
    assert left() == {"e0-a.1", "e0-a.2", "e0-a.3", "e0-b.1"}
    assert made.put("e0-a", 2)
    made.clear("e0-a", 2)
    assert left() == {"e0-a.3", "e0-b.1"}, "a later worker may be writing"
    made.clear("e0-b", 1)
    assert left() == {"e0-a.3"}, "its own, whatever has become of the turn"
    assert not made.put("e0-a", 1), "one that finds nothing of its own left"


def test_a_folder_that_cannot_be_written(make: Make, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    made = make(tmp_path / "file")
    with pytest.raises(WriteError, match="cannot be written"):
        made.staging("e0-a", 1)


def test_which_kind_serves_a_path(spark: SparkSession, tmp_path: Path) -> None:
    assert isinstance(places(spark, str(tmp_path / "a b")), LocalPlaces)
    assert isinstance(places(spark, tmp_path.as_uri()), LocalPlaces)
    with pytest.raises(WriteError, match=r"nosuch://bucket/x cannot be written: .*nosuch"):
        places(spark, "nosuch://bucket/x")


@pytest.mark.parametrize("name", ["a b", "50%25", "ü", "x#y?z", "{1}[2]*"])
def test_spark_writes_to_the_folder_that_is_put_in_its_place(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    """Whatever characters are in its name."""
    made = places(spark, str(tmp_path / name))
    spark.range(2).write.json(made.staging("e0-a", 1))
    assert made.put("e0-a", 1)
    assert [folder.name for folder in tmp_path.iterdir()] == [name]
    assert list((tmp_path / name / "turn=e0-a").glob("part-*.json"))


@pytest.mark.parametrize(
    ("path", "once"),
    [("/data", True), ("file:///data", True), ("hdfs://n/data", True), ("s3a://b/data", False)],
)
def test_what_is_promised(path: str, once: bool) -> None:
    assert exactly_once(path) is once
