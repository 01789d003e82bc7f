"""Which transformer restores the records of which format."""

from __future__ import annotations

from typing import Final

from penstock.plugins.objects.envelope_columns import ParquetEnvelopes
from penstock.plugins.objects.envelope_config import ENVELOPE
from penstock.plugins.objects.envelope_csv import CsvEnvelopes
from penstock.plugins.objects.envelope_json import JsonArrayEnvelopes, JsonLinesEnvelopes
from penstock.sdk.errors import ConfigError
from penstock.sdk.transformers.transformer import Transformer

_RESTORING: Final[dict[str, type[Transformer]]] = {
    "csv": CsvEnvelopes,
    "json": JsonArrayEnvelopes,
    "jsonl": JsonLinesEnvelopes,
    "parquet": ParquetEnvelopes,
}


def restoring_class(name: str) -> type[Transformer]:
    """The transformer for the envelopes of that format; ConfigError if it has none."""
    if name == "avro":
        from penstock.plugins.objects.envelope_avro import AvroEnvelopes

        return AvroEnvelopes
    if name not in _RESTORING:
        known = ", ".join(sorted([*_RESTORING, "avro"]))
        raise ConfigError(f"{ENVELOPE} needs input.format to be one of {known}.", key=ENVELOPE)
    return _RESTORING[name]
