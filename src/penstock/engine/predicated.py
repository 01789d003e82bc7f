"""A transform and, where there is one, the predicate that says which records it is for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from penstock.columnar.predicate import Predicate
from penstock.columnar.transform import Transform
from penstock.engine.parts import Part
from penstock.engine.stage_error import at_stage
from penstock.sdk.errors import RecordError


@dataclass(frozen=True)
class Predicated:
    """Applies ``transform`` where ``predicate`` holds or, with ``negate``, where it does not."""

    transform: Transform
    predicate: Predicate | None = None
    negate: bool = False

    def apply(self, part: Part) -> list[Part]:
        """The rows that are left, changed or not; StageError names a row of ``part``."""
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
        """Every row as the transform makes it. Rows that it drops leave their places."""
        batch = self.transform.apply(part.batch)
        left = batch.num_rows
        if left in {0, part.batch.num_rows} or len(runs := part.runs()) == 1:
            # Of neighbours it does not matter which of them are gone.
            return [Part(batch, part.places[:left])]
        return [piece for run in runs for piece in self._changed(part.rows(*run))]
