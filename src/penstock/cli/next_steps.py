"""What to do after an error, where the error itself does not say so."""

from __future__ import annotations

import errno

from penstock.sdk.errors import PenstockError

LOOK_AT_LOG = "The worker's log says more: `penstock logs --level ERROR`."
CHECK_ADDRESS = "Is this the address of a worker? Check --url and PENSTOCK_URL."
RIGHTS = "Choose another place, or have its owner give you the rights."
OF_SYSTEM = {
    errno.EACCES: RIGHTS,
    errno.EPERM: RIGHTS,
    errno.EROFS: "Choose a place that can be written to.",
    errno.ENOSPC: "Free some space, or choose another place, e.g. with --data-dir.",
    errno.ENOENT: "Check the path.",
    errno.ENOTDIR: "A part of this path is a file: choose another.",
    errno.EMFILE: "Raise the limit of open files (`ulimit -n`).",
}
# The first whose words are in a worker's message counts.
OF_MESSAGE = (
    ("needs the role", "Have somebody with that role do it, or give you the role."),
    ("PENSTOCK_TOKEN", "Set it to what the worker's operator gave you, then try again."),
    ("other than JSON", CHECK_ADDRESS),
    (" was due", CHECK_ADDRESS),
    ("STOPPED state", "`penstock stop connector NAME` stops it."),
    ("ogger", "`penstock get loggers` lists the loggers."),
    ("log level", "Give one of TRACE, DEBUG, INFO, WARN, ERROR, FATAL and OFF."),
    ("nknown plugin", "`penstock get plugins --all` lists the plugins."),
    ("onfiguration is invalid", "Correct these values and apply it again."),
    ("Failed to find any class", "`penstock get plugins` lists the connectors."),
    ("onnector", "`penstock get connectors` lists the connectors."),
)
OF_STATUS = {
    401: "Set PENSTOCK_TOKEN to <name>.<secret>, as the worker's operator gave it to you.",
    403: "Use the worker's address or localhost in --url.",
    429: "Wait, then try again with the right PENSTOCK_TOKEN.",
    404: CHECK_ADDRESS,
    405: CHECK_ADDRESS,
    409: "The worker is taking over or losing its group: try again in a moment.",
    503: "Try again in a moment.",
}


def next_step(error: Exception) -> str:
    """A sentence for the user; empty where there is no more to say."""
    if isinstance(error, PenstockError):
        return _after_penstock(error)
    if isinstance(error, OSError):
        return OF_SYSTEM.get(error.errno or 0, "")
    return ""


def _after_penstock(error: PenstockError) -> str:
    from penstock.client.errors import ConnectApiError, ConnectorFailed, WaitTimeout

    if isinstance(error, ConnectApiError):
        return _after_answer(error.status, error.message)
    if isinstance(error, ConnectorFailed):
        return (
            "Repair what it names, then `penstock restart connector NAME --include-tasks "
            "--only-failed`."
        )
    if isinstance(error, WaitTimeout):
        return "It may still come about: `penstock get connectors` shows; --wait waits longer."
    return ""


def _after_answer(status: int, message: str) -> str:
    if message.startswith("HTTP "):
        return CHECK_ADDRESS
    if status in (409, 503):
        return OF_STATUS[status]
    if status >= 500:
        return LOOK_AT_LOG
    by_words = (step for words, step in OF_MESSAGE if words in message)
    return next(by_words, OF_STATUS.get(status, ""))
