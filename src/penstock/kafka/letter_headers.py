"""The headers of dead letters, under Kafka Connect's names."""

from __future__ import annotations

from typing import Final

PREFIX: Final = "__connect.errors."
"""What the names of all of them begin with."""
