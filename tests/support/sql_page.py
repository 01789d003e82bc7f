"""The examples of docs/sql.md."""

from __future__ import annotations

from dataclasses import dataclass

from project_scripts import ROOT

PAGE = ROOT / "docs/sql.md"


@dataclass(frozen=True)
class Example:
    """Statements, and what they print where the page says so."""

    script: str
    printed: str | None


def examples() -> list[Example]:
    """In the order of the page: a block of SQL, and the plain block that follows it at once."""
    found: list[Example] = []
    for block in PAGE.read_text().split("```sql\n")[1:]:
        script, _, rest = block.partition("\n```\n")
        printed = rest.removeprefix("```\n") if rest.startswith("```\n") else None
        found.append(Example(script, printed and printed.partition("\n```\n")[0]))
    return found
