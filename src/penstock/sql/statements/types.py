"""SQL's types of columns."""

from __future__ import annotations

from dataclasses import dataclass

NAMES = {"INT": "INTEGER", "STRING": "VARCHAR"}
SIMPLE = (
    "BOOLEAN",
    "INTEGER",
    "BIGINT",
    "DOUBLE",
    "DECIMAL",
    "VARCHAR",
    "BYTES",
    "DATE",
    "TIME",
    "TIMESTAMP",
)


@dataclass(frozen=True)
class SqlType:
    """``name`` is one of SIMPLE, ARRAY, MAP or STRUCT, or that of a type that was created."""

    name: str
    arguments: tuple[SqlType, ...] = ()
    """What an array or a map holds."""
    fields: tuple[tuple[str, SqlType], ...] = ()
    precision: tuple[int, int] | None = None

    def __str__(self) -> str:
        if self.name == "STRUCT":
            return f"STRUCT<{', '.join(f'{name} {kind}' for name, kind in self.fields)}>"
        if self.arguments:
            return f"{self.name}<{', '.join(map(str, self.arguments))}>"
        return (
            f"{self.name}({self.precision[0]}, {self.precision[1]})"
            if self.precision
            else (self.name)
        )


VARCHAR = SqlType("VARCHAR")


@dataclass(frozen=True)
class ColumnDef:
    """A column of a stream or table; ``role`` is KEY, PRIMARY KEY, HEADERS or empty."""

    name: str
    type: SqlType
    role: str = ""
    header: str = ""
    """The one header that a HEADER('…') column holds."""

    @property
    def is_key(self) -> bool:
        """Whether it is in the record's key."""
        return self.role in ("KEY", "PRIMARY KEY")
