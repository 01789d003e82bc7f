"""The command line: `main` is the ``penstock`` command."""

try:
    from penstock.cli.main import main
except ImportError as missing:
    # Without rich, typer, ... not even the doctor could say that they are missing.
    if (missing.name or "").startswith("penstock"):
        raise
    from penstock.cli.doctor.first_aid import main

__all__ = ["main"]
