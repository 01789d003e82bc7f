"""Writes image/README.md from the installed plugins; with --check, only says if it is outdated."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

README = Path(__file__).with_name("README.md")
GROUPS = {
    "penstock.connectors": "Connectors",
    "penstock.converters": "Converters",
    "penstock.transforms": "Transforms",
    "penstock.predicates": "Predicates",
}
HEAD = """\
# The Penstock image

One image for workers, for the operator and for Spark executors in pods. It contains Penstock, its
Python packages (installed by hash), Java 17 and all jars, so it downloads nothing when it starts.
It runs as user 10001 and needs no writable root file system.

Build it from the root of the project:

```
docker build -f image/Dockerfile -t penstock:0.1.0 .
```

`penstock deploy` and `penstock operator manifests` use that name by default; `--image` changes it.

To add a connector, install its Python package into an image of your own. Workers and Spark
executors run the same image, so both have it:

```dockerfile
FROM penstock:0.1.0
USER root
RUN /opt/penstock/bin/python -m pip install my-connector==1.2.3
USER 10001:10001
```

These plugins are included. In a config, use the name or the class.
"""


def main() -> int:
    """Write it, or check it."""
    text = render()
    if "--check" not in sys.argv:
        README.write_text(text, encoding="utf-8")
        return 0
    if README.read_text(encoding="utf-8") == text:
        return 0
    print(f"{README} is outdated: run {Path(__file__).name}", file=sys.stderr)
    return 1


def render() -> str:
    """The page, made from the entry points of Penstock itself."""
    parts = [HEAD]
    for group, title in GROUPS.items():
        rows = [
            _row(point)
            for point in sorted(entry_points(group=group), key=lambda p: p.name)
            if _is_ours(point)
        ]
        parts.append(f"\n## {title}\n\n| name | class |\n|---|---|\n" + "".join(rows))
    return "".join(parts)


def _is_ours(point: EntryPoint) -> bool:
    return point.dist is not None and point.dist.name == "penstock"


def _row(point: EntryPoint) -> str:
    return f"| `{point.name}` | `{point.module}.{point.attr}` |\n"


if __name__ == "__main__":
    sys.exit(main())
