"""Properties files that options name: a worker's config, settings of a client."""

from __future__ import annotations

from pathlib import Path

from penstock.kafka.properties import parse_properties
from penstock.sdk.errors import ConfigError


def read_properties(
    file: Path, *, what: str = "the worker config", option: str = "--worker-config"
) -> dict[str, str]:
    """The entries of a file; ConfigError names the file and line that is wrong."""
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"Cannot read {what} {file}: {error.strerror}. Check {option}."
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{file} is not a text file in UTF-8 ({error.reason}): save it as one."
        ) from error
    return parse_properties(text, str(file))
