"""Prometheus' text format: escaping, help, type and numbers."""

from __future__ import annotations

import math

from penstock.runtime.views.prometheus_text import Family, labels, render


def test_a_family() -> None:
    family = Family("a_total", "What\nit \\ is", "counter")
    family.add("", 3)
    family.add(labels(connector="c", task=0), 0.25)
    assert render([family]) == (
        "# HELP a_total What\\nit \\\\ is\n"
        "# TYPE a_total counter\n"
        "a_total 3\n"
        'a_total{connector="c",task="0"} 0.25\n'
    )


def test_label_values_are_escaped() -> None:
    assert labels(name='say "hi"\\\n') == r'{name="say \"hi\"\\\n"}'


def test_a_family_without_samples_is_not_there() -> None:
    assert render([Family("nothing", "nothing")]) == ""


def test_numbers() -> None:
    family = Family("n", "n")
    for value in (True, 1e20, math.nan, math.inf, -math.inf):
        family.add("", value)
    shown = [sample.split()[1] for sample in family.samples]
    assert shown == ["1", "1e+20", "NaN", "+Inf", "-Inf"]
