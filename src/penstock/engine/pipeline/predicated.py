"""A transform and, if there is one, the predicate that selects its records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from penstock.engine.pipeline.parts import Numbers, Part
from penstock.engine.pipeline.stage_error import at_stage
from penstock.sdk.errors import RecordError
from penstock.sdk.function_transforms import OverRecords
from penstock.sdk.predicates import Predicate
from penstock.sdk.transforms import Transform


@dataclass(frozen=True)
class Predicated:
    """Applies ``transform`` where ``predicate`` holds or, with ``negate``, where it does not."""

    transform: Transform
    predicate: Predicate | None = None
    negate: bool = False

    def apply(self, part: Part) -> list[Part]:
        """The remaining rows, changed or not; StageError names a row of ``part``."""
        with at_stage("TRANSFORMATION", self.transform):
            if self.predicate is None:
                return self._changed(part)
            found = self.predicate.test(part.batch).to_numpy(zero_copy_only=False)
            return self._changed_where(part, ~found if self.negate else found)

    def _changed_where(self, part: Part, mask: npt.NDArray[np.bool_]) -> list[Part]:
        chosen = np.flatnonzero(mask)
        if not len(chosen):
            return [part]
        if len(chosen) == len(mask):
            return self._changed(part)
        try:
            changed = self._changed(part.taken(chosen))
        except RecordError as error:
            error.row = int(chosen[error.row])
            raise
        return [part.taken(np.flatnonzero(~mask)), *changed]

    def _changed(self, part: Part) -> list[Part]:
        """The transform applied to every row; to those that belong apart, by themselves."""
        apart = self.transform.apart(part.batch)
        if apart is None:
            return self._applied(part)
        mask = apart.to_numpy(zero_copy_only=False)
        groups = [rows for rows in (np.flatnonzero(~mask), np.flatnonzero(mask)) if len(rows)]
        return [piece for rows in groups for piece in self._applied_to(part, rows)]

    def _applied_to(self, part: Part, rows: Numbers) -> list[Part]:
        try:
            return self._applied(part.taken(rows))
        except RecordError as error:
            error.row = int(rows[error.row])
            raise

    def _applied(self, part: Part) -> list[Part]:
        """The places of dropped rows stay empty."""
        if isinstance(self.transform, OverRecords):
            made = self.transform.parts(part.batch)
            return [Part(batch, part.places[rows]) for rows, batch in made] or [part.rows(0, 0)]
        batch = self.transform.apply(part.batch)
        left = batch.num_rows
        if left in {0, part.batch.num_rows} or len(runs := part.runs()) == 1:
            # Among neighbours it does not matter which were dropped.
            return [Part(batch, part.places[:left])]
        return [piece for run in runs for piece in self._applied(part.rows(*run))]
