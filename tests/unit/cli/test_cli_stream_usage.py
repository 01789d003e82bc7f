"""Wrong usage of topic, produce, consumer and consume: exit code 2, and what to do instead.

None of this asks a broker.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.cli import brokers
from penstock.cli.produce import lines
from penstock.consumers.errors import BadInput

Run = Callable[..., Any]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("consume t -B -T 5", ["-B and -T exclude each other"]),
        ("consume t --start 5 --since 1h", ["--start and --since exclude each other"]),
        ("consume t -H 1 -T 1 -B", ["-B and -H and -T exclude each other"]),
        ("consume t --start 9 --end 3", ["--end 3 lies before --start 9"]),
        ("consume t --since soon", ["'soon' is not a time", "10m, 2h, 1d"]),
        ("consume t -p 0 -A", ["-p and -A exclude each other"]),
        ("consume t -F {{valu}}", ["{{valu}}", "{{offset}}, {{key}}, {{value}}"]),
        ("consume t -F {{key}} -o jsonl", ["-F and -o exclude each other"]),
        ("consume t -F {{key}} -k", ["-F and -k exclude each other"]),
        ("consume t -k -o raw", ["-k and -o raw exclude each other"]),
        ("consume t -o xml", ["dynamic", "table"]),
        ("consume t --manual", ["--manual is about a named consumer", "-c"]),
        ("consume t --ttl 1d", ["--ttl is about a named consumer"]),
        ("consume t --take-over", ["--take-over is about a named consumer"]),
        ("consume t --reset -B", ["--reset is about a named consumer"]),
        ("consume t -c c --reset", ["--reset needs to know where to", "--since"]),
        ("consume t -c c --ttl 5", ["'5' is not a duration", "30s, 10m, 12h or 7d"]),
        ("consume t -n 0", ["-n"]),
        ("consume t -T -1", ["-T"]),
        ("consume t --when-gone perhaps", ["earliest"]),
        ("consume", ["TOPIC"]),
        ("produce t --key a --key-separator :", ["--key and --key-separator exclude each other"]),
        ("produce t --raw --key-separator :", ["--raw and --key-separator exclude each other"]),
        ("produce t --header a", ["--header needs KEY=VALUE"]),
        ("produce t --compression rar", ["zstd"]),
        ("topic create t -p 0", ["-p"]),
        ("topic create t --config x", ["--config needs KEY=VALUE"]),
        ("topic create t --consumer-ttl soon", ["'soon' is not a TTL", "or none"]),
        ("topic update t", ["--consumer-ttl or --config"]),
        ("topic update t --consumer-ttl ", ["'' is not a TTL", "or none"]),
        ("topic create t --consumer-ttl ", ["'' is not a TTL", "or none"]),
        ("topic delete", ["TOPIC"]),
        ("consumer reset c t", ["one of -B, -H, -T, --to-offset, --to-time and --to-end"]),
        ("consumer reset c t -B --to-end", ["one of -B, -H, -T"]),
        ("consumer reset c t --to-time soon", ["is not a time"]),
        ("consumer update c", ["--ttl"]),
        ("consumer update c --ttl 7x", ["30s, 10m, 12h or 7d"]),
    ],
)
def test_wrong_usage(run: Run, line: str, words: list[str]) -> None:
    result = run(*line.split(" "), "--bootstrap-servers", "127.0.0.1:1")
    assert result.code == 2
    assert result.out == ""
    # Where it is told in a box, lines are broken.
    told = " ".join(result.err.replace("│", " ").split())
    for each in words:
        assert each in told


def test_without_brokers_it_says_how_to_name_them(run: Run) -> None:
    result = run("consume", "t")
    assert result.code == 1
    assert "--bootstrap-servers" in result.err


def test_settings_of_the_client(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "client.properties"
    file.write_text(
        "bootstrap.servers=there:9092\nsecurity.protocol=SASL_SSL\nsasl.mechanism=PLAIN\n"
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required "
        'username="me" password="not-to-be-shown";\nsasl.nonsense=1\n'
    )
    connection = brokers.connection_to(None, file)
    assert connection.bootstrap_servers == "there:9092"
    assert connection.security["sasl.username"] == "me"
    assert connection.security["security.protocol"] == "SASL_SSL"
    told = capsys.readouterr().err
    assert "sasl.nonsense" in told
    assert "not-to-be-shown" not in told
    assert brokers.connection_to("here:9092", file).bootstrap_servers == "here:9092"


def test_settings_that_cannot_be_read(run: Run, tmp_path: Path) -> None:
    missing = str(tmp_path / "none")
    result = run("topic", "list", "--command-config", missing)
    assert result.code == 1
    assert f"{missing}: No such file or directory. Check --command-config." in result.err


def test_a_file_that_is_not_there(run: Run, tmp_path: Path) -> None:
    result = run("produce", "t", "-f", str(tmp_path / "none"), "--bootstrap-servers", "x:1")
    assert result.code == 1
    assert "none: No such file or directory" in result.err


def test_lines_are_cut_at_line_feeds_alone(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    file.write_bytes(b"a\r\n\n\x0bb\n\xffc")
    with file.open("rb") as source:
        found = list(lines(source, "k", None))
    assert [(each.value, each.number) for each in found] == [
        (b"a\r", 1),
        (b"", 2),
        (b"\x0bb", 3),
        (b"\xffc", 4),
    ]
    assert {each.key for each in found} == {b"k"}


def test_keys_before_a_separator(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    file.write_bytes(b"k::v::w\n::v\nk\n")
    with file.open("rb") as source:
        records = lines(source, None, "::")
        assert [(r.key, r.value) for r in (next(records), next(records))] == [
            (b"k", b"v::w"),
            (b"", b"v"),
        ]
        with pytest.raises(BadInput, match="line 3 has no '::'"):
            next(records)
