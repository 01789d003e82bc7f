"""Plugins: what is installed, how it is configured, and whether a config is right."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from penstock.rest.http import answers
from penstock.rest.http.answers import gives
from penstock.rest.http.bodies import config_map
from penstock.rest.http.calls import HerderCalls
from penstock.rest.http.requests import (
    CONFIG_SCHEMA,
    JsonBody,
    Plugin,
    flag,
    is_true,
    parsed,
    takes,
)
from penstock.runtime.errors import BadRequest

router = APIRouter(prefix="/connector-plugins", tags=["plugins"])

RANGE = r"[\[(][^\[\](),]*(?:,[^\[\](),]*)?[\])]"
VERSION = rf"[^\[\](),]*|{RANGE}(?:,{RANGE})*"
"""A version, or ranges of versions as Maven writes them."""


@router.get("", responses=gives(answers.PLUGINS))
async def list_plugins(
    calls: HerderCalls, connectors_only: Annotated[str, flag("connectorsOnly")] = "true"
) -> JSONResponse:
    """The installed connectors; with ``connectorsOnly=false`` all plugins."""
    return JSONResponse(await calls.run(calls.herder.plugins, is_true(connectors_only)))


@router.get("/{plugin}/config", responses=gives(answers.KEYS))
async def get_plugin_config(
    plugin: Plugin, calls: HerderCalls, version: str = "latest"
) -> JSONResponse:
    """The config keys of a plugin; there is one version of each, whatever ``version`` asks for."""
    if not re.fullmatch(VERSION, version.strip()):
        raise BadRequest(f"Invalid version specification: {version}")
    return JSONResponse(await calls.run(calls.herder.plugin_config, plugin))


@router.put(
    "/{plugin}/config/validate",
    openapi_extra=takes(CONFIG_SCHEMA),
    responses=gives(answers.VALIDATION),
)
async def validate(plugin: Plugin, calls: HerderCalls, body: JsonBody) -> JSONResponse:
    """Check a config; 200 even when it is wrong, with the errors beside the keys."""
    config = await parsed(config_map, body)
    return JSONResponse(await calls.run(calls.herder.validate, plugin, config))
