"""Which application of Spark's runs what this worker runs."""

from __future__ import annotations

from penstock.runtime.running.context import Context


def spark_of(context: Context) -> dict[str, str]:
    """Its id and the address of its web UI, as far as there are any."""
    found = context.engine.session.application
    if found is None:
        return {}
    shown = {"spark_application_id": found.id}
    return {**shown, "spark_ui": found.ui} if found.ui else shown
