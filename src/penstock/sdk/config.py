"""Configuration, described once: for parsing, validation, REST, forms, command help and docs.

A connector lists its keys in a ``ConfigDef``. Values arrive as text, as users write them, and are
read as Kafka reads them: trimmed, with the same limits and the same error texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Any, Final

from penstock.sdk.errors import ConfigError

Config = Mapping[str, str | None]
Validator = Callable[[str, Any], None]
"""Called with a key's name and parsed value; raises ``ConfigError`` to refuse it."""

HIDDEN: Final = "[hidden]"
"""What is shown in place of a secret."""


class Type(StrEnum):
    """How the text of a value is read."""

    BOOLEAN = "BOOLEAN"
    STRING = "STRING"
    INT = "INT"
    SHORT = "SHORT"
    LONG = "LONG"
    DOUBLE = "DOUBLE"
    LIST = "LIST"
    CLASS = "CLASS"
    PASSWORD = "PASSWORD"  # noqa: S105 (the name of a type)


class Importance(StrEnum):
    """How soon a user needs to know of a key."""

    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"


class Width(StrEnum):
    """How wide a form should draw the field of a key."""

    NONE = "NONE"
    SHORT = "SHORT"
    MEDIUM = "MEDIUM"
    LONG = "LONG"


class Required(Enum):
    """The type of ``REQUIRED``; an enum, so that it stays itself when pickled."""

    REQUIRED = "REQUIRED"


REQUIRED: Final = Required.REQUIRED
"""The default of a key that has none: the user must set it."""


@dataclass(frozen=True)
class ConfigKey:
    """One key: its type, what it may hold, and how to present it.

    ``default`` is a typed value (or None), not text. ``recommended`` is a sequence of values or a
    function of the configuration that returns one; ``visible`` a function of the configuration
    that says whether the key applies at all. ``group`` and ``order`` place it in a form.
    """

    name: str
    type: Type = Type.STRING
    default: Any = REQUIRED
    validator: Validator | None = None
    importance: Importance = Importance.MEDIUM
    doc: str = ""
    group: str | None = None
    order: int = -1
    width: Width = Width.NONE
    display_name: str | None = None
    recommended: Sequence[Any] | Callable[[Config], Sequence[Any]] = ()
    dependents: Sequence[str] = ()
    visible: Callable[[Config], bool] | None = None

    def __post_init__(self) -> None:
        if self.validator is not None and not self.required and self.default is not None:
            self.validator(self.name, self.default)

    @property
    def required(self) -> bool:
        """Whether the user must set it."""
        return self.default is REQUIRED

    @property
    def secret(self) -> bool:
        """Whether its value must never be shown."""
        return self.type is Type.PASSWORD

    def read(self, config: Config) -> Any:
        """The typed value in ``config``, or the default; ``ConfigError`` says what is wrong."""
        if self.name not in config:
            return self._default()
        text = config[self.name]
        if text is None:
            raise ConfigError(NULL_VALUE, key=self.name)
        value = _parse(self, text)
        self._check(value)
        return value

    def text(self, value: Any) -> str | None:
        """A typed value as Kafka prints it."""
        if value is None:
            return None
        return HIDDEN if self.secret else as_text(value)

    def describe(self) -> dict[str, Any]:
        """The key as Kafka Connect's REST API describes it."""
        return {
            "name": self.name,
            "type": self.type.value,
            "required": self.required,
            "default_value": None if self.required else self.text(self.default),
            "importance": self.importance.value,
            "documentation": self.doc,
            "group": self.group,
            # Kafka 4.2 renamed `order`; its own reader refuses a body that has both.
            "order_in_group": self.order,
            "width": self.width.value,
            "display_name": self.display_name or self.name,
            "dependents": list(self.dependents),
        }

    def _default(self) -> Any:
        if self.required:
            message = f'Missing required configuration "{self.name}" which has no default value.'
            raise ConfigError(message, key=self.name)
        return list(self.default) if self.type is Type.LIST and self.default else self.default

    def _check(self, value: Any) -> None:
        if self.validator is None:
            return
        try:
            self.validator(self.name, _Masked(value) if self.secret else value)
        except ConfigError as error:
            if self.secret and value in str(error):
                raise ConfigError(
                    f"Invalid value {HIDDEN} for configuration {self.name}", key=self.name
                ) from None
            raise


@dataclass(frozen=True)
class ConfigValue:
    """What validation found for one key; ``value`` is None when it could not be read."""

    name: str
    value: str | None = None
    recommended_values: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    visible: bool = True


class ConfigDef:
    """The keys that something understands, in order. Immutable; ``a + b`` merges, b wins."""

    def __init__(self, *keys: ConfigKey) -> None:
        self._keys = {key.name: key for key in keys}

    def __add__(self, other: ConfigDef) -> ConfigDef:
        return ConfigDef(*self, *other)

    def __iter__(self) -> Iterator[ConfigKey]:
        return iter(self._keys.values())

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, name: object) -> bool:
        return name in self._keys

    def __getitem__(self, name: str) -> ConfigKey:
        return self._keys[name]

    def names(self) -> list[str]:
        """The names of all keys."""
        return list(self._keys)

    def groups(self) -> list[str]:
        """The groups in use, in order of first use."""
        return list(dict.fromkeys(key.group for key in self if key.group is not None))

    def parse(self, config: Config) -> dict[str, Any]:
        """A typed value for every key; raises ``ConfigError`` for the first that is wrong.

        What ``config`` holds beyond these keys is ignored.
        """
        return {key.name: key.read(config) for key in self}

    def validate(self, config: Config) -> list[ConfigValue]:
        """Every key with its value as text, or with what is wrong with it. Never raises."""
        return [_validated(key, config) for key in self]

    def secrets(self, config: Config) -> list[str]:
        """The secret values in ``config``, to be scrubbed from whatever is shown."""
        values = (trim(config.get(key.name) or "") for key in self if key.secret)
        return [value for value in values if value]

    def masked(self, config: Config) -> dict[str, str | None]:
        """``config`` as it may be shown."""
        secret = {key.name for key in self if key.secret}
        return {k: HIDDEN if k in secret and v is not None else v for k, v in config.items()}


NULL_VALUE: Final = "Null value can not be supplied as the configuration value."


def invalid_value(name: str, value: Any, why: str) -> ConfigError:
    """The error for a value that is there but wrong, in Kafka's words."""
    shown = _java_text(value)
    return ConfigError(f"Invalid value {shown} for configuration {name}: {why}", key=name)


def as_text(value: Any) -> str:
    """A typed value in the form in which a user would write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Iterable):
        return ",".join(as_text(item) for item in value)
    return str(value)


def trim(text: str) -> str:
    """Java's ``String.trim``: everything up to U+0020 goes, other Unicode blanks stay."""
    return text.strip(_BLANK)


_BLANK: Final = "".join(map(chr, range(0x21)))


class _Masked(str):
    """A secret that compares as itself but prints as hidden."""

    __slots__ = ()

    def __str__(self) -> str:
        return HIDDEN

    def __repr__(self) -> str:
        return HIDDEN

    def __format__(self, spec: str) -> str:
        return HIDDEN


def _java_text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_java_text, value))}]"
    return as_text(value)


def _validated(key: ConfigKey, config: Config) -> ConfigValue:
    errors: list[str] = []
    try:
        text = key.text(key.read(config))
    except ConfigError as error:
        errors.append(str(error))
        text = _readable(key, config)
    recommended = key.recommended(config) if callable(key.recommended) else key.recommended
    visible = key.visible is None or key.visible(config)
    return ConfigValue(key.name, text, [as_text(r) for r in recommended], errors, visible)


def _readable(key: ConfigKey, config: Config) -> str | None:
    """The text of a value that could be read but was refused; None if it could not be read."""
    text = config.get(key.name)
    try:
        return None if text is None else key.text(_parse(key, text))
    except ConfigError:
        return None


def _parse(key: ConfigKey, text: str) -> Any:
    try:
        return _PARSERS[key.type](text)
    except ValueError as error:
        raise invalid_value(key.name, text, str(error)) from None


def _boolean(text: str) -> bool:
    lowered = trim(text).lower()
    if lowered not in ("true", "false"):
        raise ValueError("Expected value to be either true or false")
    return lowered == "true"


def _integer(kind: Type, bits: int) -> Callable[[str], int]:
    limit = 1 << (bits - 1)

    def parse(text: str) -> int:
        value = int(trim(text)) if re.fullmatch(r"[+-]?\d{1,30}", trim(text)) else limit
        if not -limit <= value < limit:
            raise ValueError(f"Not a number of type {kind}")
        return value

    return parse


_DOUBLE: Final = re.compile(r"([+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?))[fFdD]?")


def _double(text: str) -> float:
    match = _DOUBLE.fullmatch(trim(text))
    if match is None:
        raise ValueError(f"Not a number of type {Type.DOUBLE}")
    return float(match[1])


def _list(text: str) -> list[str]:
    trimmed = trim(text)
    return re.split(r"\s*,\s*", trimmed) if trimmed else []


_PARSERS: Final[Mapping[Type, Callable[[str], Any]]] = {
    Type.BOOLEAN: _boolean,
    Type.STRING: trim,
    Type.INT: _integer(Type.INT, 32),
    Type.SHORT: _integer(Type.SHORT, 16),
    Type.LONG: _integer(Type.LONG, 64),
    Type.DOUBLE: _double,
    Type.LIST: _list,
    Type.CLASS: trim,
    Type.PASSWORD: trim,
}
