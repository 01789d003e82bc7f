"""The conversation, by subject."""

from __future__ import annotations

from differential.script import (
    bodies,
    configs,
    lives,
    loggers,
    plugins,
    sink_groups,
    sink_offsets,
    source_offsets,
    strangers,
    validating,
    worker,
)
from differential.steps import Step

CONVERSATION: tuple[Step, ...] = (
    *worker.STEPS,
    *strangers.STEPS,
    *bodies.STEPS,
    *configs.STEPS,
    *lives.STEPS,
    *source_offsets.STEPS,
    *sink_offsets.STEPS,
    *sink_groups.STEPS,
    *plugins.STEPS,
    *validating.STEPS,
    *loggers.STEPS,
)
