"""The walk through README finds its commands."""

from __future__ import annotations

from pathlib import Path

from project_scripts import load_script

walk_readme = load_script("walk_readme")
README = (Path(__file__).parents[3] / "README.md").read_text()

TEXT = """
```
make setup   # at first
bin/penstock up
printf 'a
b' > file
cat file     # prints: a b
apply -f - <<END
one
END
python - <<END   # prints: two
two
END
```
```python
not_a_command()
```
"""


def test_commands_may_have_several_lines() -> None:
    found = list(walk_readme.commands_of(TEXT))
    assert [c.text.splitlines()[0] for c in found] == [
        "make setup   # at first",
        "bin/penstock up",
        "printf 'a",
        "cat file     # prints: a b",
        "apply -f - <<END",
        "python - <<END   # prints: two",
    ]
    assert [c.starts_worker for c in found] == [False, True, False, False, False, False]
    assert [c.prints for c in found] == [None, None, None, "a b", None, "two"]
    assert [c.text.splitlines()[-1] for c in found[-2:]] == ["END", "END"]


def test_readme_begins_with_demo_and_test() -> None:
    first, second, *rest = walk_readme.commands_of(README)
    assert (first.text.split("  ")[0], second.text.split("  ")[0]) == ("make demo", "make test")
    assert sum(c.prints is not None for c in rest) >= 5
    assert README.index("make demo") < 700, "on the first screen"
