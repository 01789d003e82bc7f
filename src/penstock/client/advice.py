"""What to do after a worker has refused, where it did not say so itself.

A worker of Penstock says it in a header. Kafka Connect's workers do not: then it follows from what
was asked for and from the status, never from the words of the answer.
"""

from __future__ import annotations

NEXT_STEP = "Penstock-Next-Step"

CHECK_ADDRESS = "Is this the address of a worker? Check --url and PENSTOCK_URL."
LOOK_AT_LOG = "The worker's log says more: `penstock logs --level ERROR`."
OF_STATUS = {
    401: "Set PENSTOCK_TOKEN to <name>.<secret>, as the worker's operator gave it to you.",
    403: "Use the worker's address or localhost in --url.",
    409: "The worker is taking over or losing its group: try again in a moment.",
    429: "Wait, then try again with the right PENSTOCK_TOKEN.",
    503: "Try again in a moment.",
}
NOT_FOUND = {
    "connectors": "`penstock get connectors` lists the connectors.",
    "connector-plugins": "`penstock get plugins --all` lists the plugins.",
    "admin": "`penstock get loggers` lists the loggers.",
}
REFUSED_OFFSETS = (
    "Compare them with `penstock get offsets NAME`. Offsets can be changed only while the "
    "connector is STOPPED."
)


def after(status: int, path: str) -> str:
    """What to do after a request for ``path`` was answered with ``status``; empty if unknown."""
    if status in OF_STATUS:
        return OF_STATUS[status]
    if status >= 500:
        return LOOK_AT_LOG
    resource, *rest = path.strip("/").split("/")
    if status == 404:
        return NOT_FOUND.get(resource, CHECK_ADDRESS)
    if status == 400 and rest[-1:] == ["offsets"]:
        return REFUSED_OFFSETS
    return CHECK_ADDRESS if status == 405 else ""
