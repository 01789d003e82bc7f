"""`penstock deploy --help` states every default."""

from typing import Any

import pytest
import typer

from penstock.cli.deploy import app

COMMANDS: Any = typer.main.get_command(app)


@pytest.mark.parametrize("verb", ["render", "diff", "apply"])
def test_every_option_states_its_default(verb: str) -> None:
    command = COMMANDS.commands[verb]
    silent = []
    for option in (p for p in command.params if p.param_type_name == "option"):
        told = "Default: " in (option.help or "") or (option.default not in (None, "", [], ()))
        if not told and not option.is_flag:
            silent.append(option.name)
    assert silent == []


def test_defaults_are_those_of_the_options() -> None:
    from penstock.deploy.options import Options, Spark

    given = {option.name: option.default for option in COMMANDS.commands["apply"].params}
    fields = Options.__dataclass_fields__
    assert {key: given[key] for key in ("workers", "cpu", "memory")} == {
        key: fields[key].default for key in ("workers", "cpu", "memory")
    }
    spark = ("executor_instances", "executor_cores", "executor_memory", "driver_memory")
    assert {key: given[key] for key in spark} == {key: getattr(Spark(), key) for key in spark}
