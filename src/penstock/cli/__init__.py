"""The command line: `main` is the ``penstock`` command."""

import sys

try:
    from penstock.cli.main import main
except ImportError as missing:
    # Without rich, typer, ... not even the doctor could say that they are missing.
    if (missing.name or "").startswith("penstock"):
        raise
    from penstock.cli.doctor.first_aid import main
except KeyboardInterrupt:
    # Ctrl-C while Python still reads the code: as at any other time.
    sys.exit(130)

__all__ = ["main"]
