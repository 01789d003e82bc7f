"""Records that were refused on their way to the last stage of a turn: they fail there again.

So ``errors.tolerance`` and dead letters are what they are everywhere, and the letters are in the
transaction with the offsets past those records.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import ClassVar

import pyarrow as pa

from penstock.columnar.transforms.spark_sql import SparkSql
from penstock.engine.pipeline.stage_error import StageError, class_name
from penstock.sdk.config import ConfigDef
from penstock.sdk.errors import RecordError
from penstock.sdk.frames import FrameConnector
from penstock.sdk.transforms import Transform

READING = "VALUE_CONVERTER"
PROBLEM = "problem"
"""A column of records beside those of ``penstock.sdk.batches``."""


@dataclass(frozen=True)
class Problem:
    """Why a record was refused, and by which step."""

    text: str
    stage: str = "TRANSFORMATION"
    step: str = class_name(SparkSql)
    name: str = "RecordError"

    @staticmethod
    def of(error: StageError) -> Problem:
        """What a step has said."""
        return Problem(str(error), error.stage, error.step, error.error_name)

    @staticmethod
    def read(text: str) -> Problem:
        """From ``written``."""
        return Problem(**json.loads(text))

    @staticmethod
    def told(text: str) -> Problem:
        """From ``written``; or from what a connector says about a value, in words of its own."""
        with contextlib.suppress(ValueError, TypeError):
            return Problem.read(text)
        return Problem(text, READING, class_name(FrameConnector))

    @property
    def written(self) -> str:
        """As it is in a column."""
        return json.dumps(asdict(self))

    def error(self, row: int) -> StageError:
        """The error of that row, as the step has raised it."""
        found = StageError(RecordError(self.text), self.stage, SparkSql, row)
        found.step, found.error_name = self.step, self.name
        return found


def refused(records: pa.RecordBatch, problems: list[str]) -> pa.RecordBatch:
    """``records``, none of which is good: each with its problem."""
    return records.append_column(PROBLEM, pa.array(problems, pa.string()))


class Problems(Transform):
    """Raises the errors of records that were refused before."""

    config_def: ClassVar[ConfigDef] = ConfigDef()

    def configure(self, config: Mapping[str, str]) -> None:
        """There is nothing to configure."""

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if PROBLEM not in batch.schema.names:
            return batch
        if batch.num_rows:
            raise Problem.read(batch.column(PROBLEM)[0].as_py()).error(0)
        return batch.drop_columns([PROBLEM])
