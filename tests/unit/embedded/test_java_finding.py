"""Which Java is chosen, and what is said when none fits."""

from pathlib import Path

import pytest

from fake_java import fake_java
from penstock.embedded import JavaNotFound, find_java
from penstock.embedded.java import look_for_java, parse_version


def starts(home: Path) -> list[str]:
    return (home / "starts").read_text().split()


@pytest.mark.parametrize(
    ("printed", "major", "version"),
    [
        ('java version "1.8.0_402"', 8, "1.8.0_402"),
        ('openjdk version "11.0.22" 2024-01-16', 11, "11.0.22"),
        ('openjdk version "17.0.15" 2025-04-15', 17, "17.0.15"),
        ('Picked up JAVA_TOOL_OPTIONS: -Dx=y\nopenjdk version "21" 2023-09-19', 21, "21"),
        ('openjdk version "23-ea" 2024-09-17', 23, "23-ea"),
    ],
)
def test_version_is_read(printed: str, major: int, version: str) -> None:
    assert parse_version(printed) == (major, version)


def test_output_without_version_is_refused() -> None:
    with pytest.raises(ValueError, match="no version"):
        parse_version("command not found")


def test_java_home_comes_before_path(tmp_path: Path) -> None:
    executable = fake_java(tmp_path / "a", "17.0.1")
    fake_java(tmp_path / "b", "21.0.1")
    java = find_java({"JAVA_HOME": str(tmp_path / "a"), "PATH": str(tmp_path / "b" / "bin")}, [])
    assert (java.path, java.home, java.major) == (executable, tmp_path / "a", 17)
    assert not (tmp_path / "b" / "starts").exists()


def test_unfit_ones_are_passed_over_and_modules_asked_once(tmp_path: Path) -> None:
    fake_java(tmp_path / "jvm" / "1-old", "11.0.22")
    fake_java(tmp_path / "jvm" / "2-fit", "21.0.1")
    java = find_java({}, [f"{tmp_path}/jvm/*"])
    assert (java.major, java.version) == (21, "21.0.1")
    assert len(starts(tmp_path / "jvm" / "1-old")) == 1
    assert starts(tmp_path / "jvm" / "2-fit") == ["-XshowSettings:properties", "--list-modules"]


def test_same_java_by_two_links_is_started_once(tmp_path: Path) -> None:
    fake_java(tmp_path / "jvm" / "old", "11.0.22")
    (tmp_path / "jvm" / "link").symlink_to("old")
    with pytest.raises(JavaNotFound):
        find_java({"JAVA_HOME": str(tmp_path / "jvm" / "old")}, [f"{tmp_path}/jvm/*"])
    assert len(starts(tmp_path / "jvm" / "old")) == 1


def test_message_names_each_java_and_why_it_does_not_fit(tmp_path: Path) -> None:
    fake_java(tmp_path / "j8", "1.8.0_402")
    fake_java(tmp_path / "j23", "23.0.1")
    fake_java(tmp_path / "lean", "17.0.1", modules="java.base@17")
    (tmp_path / "odd" / "bin").mkdir(parents=True)
    (tmp_path / "odd" / "bin" / "java").write_text("not a program")
    with pytest.raises(JavaNotFound) as raised:
        find_java({}, [f"{tmp_path}/*"])
    message = str(raised.value)
    assert f"{tmp_path}/j8/bin/java: Java 8 (1.8.0_402) is too old" in message
    assert f"{tmp_path}/j23/bin/java: Java 23 (23.0.1) is too new" in message
    assert "lean/bin/java: Java 17 (17.0.1) lacks the module jdk.incubator.vector" in message
    assert "odd/bin/java: it does not start (PermissionError)" in message
    assert "set JAVA_HOME" in message


def test_no_java_at_all(tmp_path: Path) -> None:
    with pytest.raises(JavaNotFound, match="no Java was found"):
        find_java({"PATH": str(tmp_path)}, [])


def test_folders_to_look_in_by_environment(tmp_path: Path) -> None:
    fake_java(tmp_path / "a" / "21", "21.0.1")
    fake_java(tmp_path / "b" / "17", "17.0.1")
    listed = f"{tmp_path}/b/*:{tmp_path}/a/*"
    assert find_java({"PENSTOCK_JAVA_FOLDERS": listed}).major == 17
    with pytest.raises(JavaNotFound, match="no Java was found"):
        find_java({"PENSTOCK_JAVA_FOLDERS": ""})


def test_a_java_that_hangs_is_passed_over(tmp_path: Path) -> None:
    hanging = tmp_path / "1" / "bin" / "java"
    hanging.parent.mkdir(parents=True)
    hanging.write_text("#!/bin/sh\nexec sleep 60\n")
    hanging.chmod(0o755)
    fake_java(tmp_path / "2", "17.0.1")
    # Long enough for a script, whatever else the machine does.
    java, unfit = look_for_java({}, [f"{tmp_path}/*"], seconds=5)
    assert java is not None
    assert [(one.path, one.why) for one in unfit] == [
        (hanging, "it does not start (TimeoutExpired)")
    ]


def test_the_java_of_this_machine_fits() -> None:
    java = find_java()
    assert java.path.is_file()
    assert java.home in java.path.parents
    assert 17 <= java.major <= 22
