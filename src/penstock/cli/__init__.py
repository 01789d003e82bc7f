"""The command line: `main` is the ``penstock`` command."""

from penstock.cli.main import main

__all__ = ["main"]
