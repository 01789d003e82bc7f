"""A small replacement for charms.reactive: flags, and handlers that run when flags are set.

The original installs, but does not import outside Ubuntu and CentOS (its charmhelpers refuses), and
needs Juju's hook tools. This has the names that connector charms use, with the same meaning:
`when`, `when_not`, `set_flag`, `status_set`, and also `clear_flag` and `is_flag_set`. Flags are
kept in the layer's state.
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.client.layer_state import read_state, update_state

Handler = Callable[[], None]
_conditions: dict[Handler, list[tuple[bool, tuple[str, ...]]]] = {}


def when(*flags: str) -> Callable[[Handler], Handler]:
    """Run a handler only while all of these flags are set."""
    return lambda handler: _register(handler, True, flags)


def when_not(*flags: str) -> Callable[[Handler], Handler]:
    """Run a handler only while none of these flags is set."""
    return lambda handler: _register(handler, False, flags)


def _register(handler: Handler, wanted: bool, flags: tuple[str, ...]) -> Handler:
    _conditions.setdefault(handler, []).append((wanted, flags))
    return handler


def set_flag(flag: str) -> None:
    """Set a flag; it stays set until it is cleared."""
    update_state(flags=sorted({*_flags(), flag}))


def clear_flag(flag: str) -> None:
    """Clear a flag."""
    update_state(flags=sorted(_flags() - {flag}))


def is_flag_set(flag: str) -> bool:
    """Whether it is set."""
    return flag in _flags()


def status_set(status: str, message: str) -> None:
    """Set the status of the unit: active, waiting, blocked or maintenance."""
    update_state(status=[status, message])


def forget_handlers() -> None:
    """Drop all handlers, before a charm loads its own again."""
    _conditions.clear()


def dispatch() -> None:
    """Run every handler whose flags allow it, each once, until no more are due."""
    run: set[Handler] = set()
    while due := [handler for handler in _conditions if handler not in run and _holds(handler)]:
        run.add(due[0])
        due[0]()


def _holds(handler: Handler) -> bool:
    flags = _flags()
    return all(
        all((flag in flags) is wanted for flag in named) for wanted, named in _conditions[handler]
    )


def _flags() -> set[str]:
    return set(read_state().get("flags", ()))
