"""What connectors do: numbers for Prometheus and for a view of one connector, and Spark's plans.

Kafka Connect's REST API has neither: it offers JMX.
"""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from penstock.rest.http import answers
from penstock.rest.http.answers import Responses, gives
from penstock.rest.http.calls import HerderCalls
from penstock.rest.http.requests import Name
from penstock.runtime.views.prometheus_text import CONTENT_TYPE

router = APIRouter(tags=["metrics"])


TEXT: Responses = {200: {"content": {"text/plain": {"schema": answers.STRING}}}}


@router.get("/metrics", response_class=Response, responses=TEXT)
async def get_worker_metrics(calls: HerderCalls) -> Response:
    """This worker's connectors in Prometheus' text format."""
    page = await calls.look(calls.herder.metrics_text)
    return Response(page, media_type=CONTENT_TYPE)


@router.get("/connectors/{name}/metrics", responses=gives(answers.METRICS))
async def get_connector_metrics(name: Name, calls: HerderCalls) -> JSONResponse:
    """Rates, times, errors, restarts and lag or position of a connector."""
    return JSONResponse(await calls.look(calls.herder.metrics, name))


@router.get("/connectors/{name}/plan", responses=gives(answers.PLAN))
async def get_connector_plan(name: Name, calls: HerderCalls) -> JSONResponse:
    """Spark's plan of a connector that is a query of Spark's."""
    return JSONResponse(await calls.look(calls.herder.plan, name))
