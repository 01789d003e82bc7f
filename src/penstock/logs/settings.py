"""The keys of a worker's config that are about its log."""

from __future__ import annotations

from penstock.logs.forms import FORMS
from penstock.logs.levels import NUMBERS
from penstock.sdk.config import ConfigKey
from penstock.sdk.config_validators import one_of_ignoring_case

LOG_KEYS = (
    ConfigKey(
        "log.level",
        default="INFO",
        validator=one_of_ignoring_case(*NUMBERS),
        doc="Level of the worker's log at its start; PUT /admin/loggers/root changes it later.",
    ),
    ConfigKey(
        "log.format",
        default="text",
        validator=one_of_ignoring_case(*FORMS),
        doc="Format of the log: text, or json with one object per line.",
    ),
)
