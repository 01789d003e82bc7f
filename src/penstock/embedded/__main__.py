"""``python -m penstock.embedded``: fetch the jars now, so that nothing waits for them later."""

from __future__ import annotations

import sys

from penstock.embedded import EmbeddedError, ensure_jars, find_java


def main() -> int:
    """Fetch what is missing, with progress; 0 when everything is there."""
    try:
        ensure_jars(find_java(), progress=lambda message: print(message, flush=True))
    except EmbeddedError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
