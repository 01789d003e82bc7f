"""Java's serialisation of a map of byte arrays: exactly that is read, anything else refused."""

import random
from contextlib import suppress
from pathlib import Path

import pytest

from penstock.cli.java_map import NotAMapError, parse_map

REAL = Path(__file__).parents[2] / "data" / "connect-standalone.offsets"
"""Written by Kafka Connect 4.3.1 in standalone mode, with the file and the mirror connectors."""


def test_a_file_of_real_kafka_connect() -> None:
    found = parse_map(REAL.read_bytes())
    assert found[b'["lines",{"filename":"lines.txt"}]'] == b'{"position":19}'
    mirrored = b'["mirror",{"cluster":"origin","partition":0,"topic":"standalone-original"}]'
    assert found[mirrored] == b'{"offset":2}'
    assert len(found) == 3
    assert found[b'["gr\xc3\xb6\xc3\x9fe",{"filename":"lines.txt"}]'] == b'{"position":19}'


def test_a_map_of_any_size() -> None:
    for count in (0, 1, 2, 500):
        entries: dict[bytes, bytes | None] = {b"%d" % n: b"v" * n for n in range(count)}
        assert parse_map(java_map(entries)) == entries
    assert parse_map(java_map({b"reset": None, b"k": b"v"})) == {b"reset": None, b"k": b"v"}


@pytest.mark.parametrize("data", [b"", b"\xac\xed", b"PK\x03\x04", b'{"offsets": []}', b"\0" * 99])
def test_other_files_are_refused(data: bytes) -> None:
    with pytest.raises(NotAMapError):
        parse_map(data)


def test_a_file_that_was_cut_short_or_goes_on_is_refused() -> None:
    data = REAL.read_bytes()
    for end in range(len(data)):
        with pytest.raises(NotAMapError):
            parse_map(data[:end])
    with pytest.raises(NotAMapError, match="something else at byte"):
        parse_map(data + b"\x00")


def test_no_damage_makes_it_do_anything_but_refuse() -> None:
    chance, data = random.Random(1), REAL.read_bytes()
    for _ in range(2000):
        damaged = bytearray(data)
        damaged[chance.randrange(len(data))] = chance.randrange(256)
        with suppress(NotAMapError):
            parse_map(bytes(damaged))


def test_another_class_in_its_place_is_refused() -> None:
    data = REAL.read_bytes().replace(b"java.util.HashMap", b"java.util.TreeMap")
    with pytest.raises(NotAMapError, match="something else at byte 4"):
        parse_map(data)


def java_map(entries: dict[bytes, bytes | None]) -> bytes:
    """What ObjectOutputStream.writeObject makes of a HashMap."""
    head = bytes.fromhex(
        "aced0005737200116a6176612e7574696c2e486173684d61700507dac1c31660d103000246000a6c6f6164"
        "466163746f724900097468726573686f6c6478703f400000000000307708"
    )
    described = bytes.fromhex("757200025b42acf317f8060854e002000078 70")
    parts, first = [head + (64).to_bytes(4, "big") + len(entries).to_bytes(4, "big")], True
    for item in (item for pair in entries.items() for item in pair):
        if item is None:
            parts.append(b"\x70")
            continue
        array = described if first else bytes.fromhex("7571007e0002")
        parts.append(array + len(item).to_bytes(4, "big") + item)
        first = False
    return b"".join(parts) + b"\x78"
