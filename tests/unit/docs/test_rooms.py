"""Documents and contracts of `.importlinter` name the same rooms, in the same order."""

from __future__ import annotations

import configparser
import re

import pytest

from project_scripts import ROOT

SOURCE = ROOT / "src/penstock"
CONTRACTS = configparser.ConfigParser()
CONTRACTS.read(ROOT / ".importlinter")
ROOMS = re.findall(r"\w+", CONTRACTS["importlinter:contract:rooms"]["layers"])
ROWS = re.findall(
    r"^\| \[`(\w+)`\]\(#[\w-]+\) \|[^|]*\|([^|]*)\|",
    (ROOT / "ARCHITECTURE.md").read_text(),
    re.MULTILINE,
)

ALLOWED = {
    "client": {"sdk"},
    "kubernetes": {"operator", "deploy", "kube", "client", "sdk"},
    "plugins": {"sdk"},
    "sdk": set(),
}
"""By contract: the rooms that its own room may import; all others must be forbidden to it."""


def rooms_there_are() -> list[str]:
    return [room for room in ROOMS if (SOURCE / room / "__init__.py").exists()]


def layers_of(room: str) -> dict[str, int]:
    """How deep each part of a room lies, by its contract; empty if it has none."""
    for contract in CONTRACTS.sections():
        if CONTRACTS[contract].get("containers", "").split() == [f"penstock.{room}"]:
            lines = CONTRACTS[contract]["layers"].splitlines()
            return {p: depth for depth, line in enumerate(lines) for p in re.findall(r"\w+", line)}
    return {}


def test_the_table_of_rooms_has_the_order_of_the_contract() -> None:
    assert [room for room, _ in ROWS] == rooms_there_are()


def test_the_layout_in_contributing_has_it_too() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    layout = text.partition("From top to bottom:")[2].partition(". ")[0]
    assert re.findall(r"`(\w+)`", layout) == rooms_there_are()


@pytest.mark.parametrize(("room", "cell"), ROWS, ids=[room for room, _ in ROWS])
def test_sub_rooms_are_listed_as_their_contract_has_them(room: str, cell: str) -> None:
    listed = re.findall(r"`(\w+)`", cell)
    layers = layers_of(room)
    unordered = set(listed) - set(layers)
    assert not unordered or len(listed) == 1, "what is said of them is checked by nothing"
    depths = [layers[name] for name in listed if layers]
    assert depths == sorted(depths)


@pytest.mark.parametrize("contract", ALLOWED)
def test_a_room_that_may_use_little_is_forbidden_all_the_others(contract: str) -> None:
    section = CONTRACTS[f"importlinter:contract:{contract}"]
    own = {name.removeprefix("*.") for name in section["source_modules"].split()}
    forbidden = set(re.findall(r"^\*\.(\w+)$", section["forbidden_modules"], re.MULTILINE))
    allowed = ALLOWED[contract] | own
    assert set(rooms_there_are()) - allowed - forbidden == set()
    assert forbidden & allowed == set()
