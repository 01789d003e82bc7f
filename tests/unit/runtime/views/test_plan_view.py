"""What is answered where there is no plan of Spark's."""

from __future__ import annotations

from unittest.mock import MagicMock

import pytest

from penstock.runtime.errors import NotFound
from penstock.runtime.running.frame_runner import FrameRunner
from penstock.runtime.running.source_runner import SourceRunner
from penstock.runtime.views.plan_view import PlanView


def view(runner: object, worker: str = "here:1", config: dict[str, str] | None = None) -> PlanView:
    context = MagicMock(worker_id="here:1")
    context.configs.config.return_value = config
    context.statuses.connector.return_value = MagicMock(worker_id=worker)
    return PlanView(context, lambda _: runner)  # type: ignore[arg-type, return-value]  # Mocks


def frame(plan: str) -> MagicMock:
    return MagicMock(spec=FrameRunner, plan=plan)


@pytest.mark.parametrize(
    ("there", "text"),
    [
        (view(None), "Connector q not found"),
        (view(None, config={}), "Resume it first"),
        (view(None, "there:2", {}), "Ask there:2, which runs it"),
        (view(MagicMock(spec=SourceRunner), config={}), "read and write records themselves"),
        (view(frame(""), config={}), "when the first records come"),
    ],
)
def test_why_there_is_none(there: PlanView, text: str) -> None:
    with pytest.raises(NotFound, match=text):
        there.plan("q")


def test_a_plan() -> None:
    assert view(frame("a plan"), config={}).plan("q") == {"name": "q", "plan": "a plan"}
