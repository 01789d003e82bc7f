"""`penstock new connector`: a project that passes its own test as it stands."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.cli.new import names
from penstock.cli.root import program
from penstock.sdk.errors import UserError


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Path]:
    def make(name: str) -> Path:
        folder = tmp_path / "project"
        answer = CliRunner().invoke(program(), ["new", "connector", name, "--folder", str(folder)])
        assert answer.exit_code == 0, answer.output
        assert "pytest" in answer.output
        return folder

    return make


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_project_passes_the_contract_as_it_stands(made: Callable[..., Path]) -> None:
    folder = made("city-weather")
    shown = run(folder, "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-n", "0")
    assert "15 passed" in shown
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert project["name"] == "city-weather-connector"
    assert project["entry-points"]["penstock.connectors"] == {
        "CityWeatherSource": "city_weather_connector:CityWeatherSourceConnector"
    }
    assert "$" not in "".join(p.read_text() for p in folder.rglob("*.py"))


def test_the_project_is_formatted_and_clean(made: Callable[..., Path]) -> None:
    folder = made("weather")
    run(folder, "ruff", "format", "--check", "--no-cache", "--line-length", "100", ".")
    run(folder, "ruff", "check", "--no-cache", "--line-length", "100", "--select", "E,F,B,UP", ".")


def test_what_is_there_is_left_alone(made: Callable[..., Path]) -> None:
    folder = made("weather")
    before = (folder / "README.md").read_text()
    again = CliRunner().invoke(program(), ["new", "connector", "other", "--folder", str(folder)])
    assert again.exit_code != 0
    assert "is there already" in str(again.exception)
    assert (folder / "README.md").read_text() == before


@pytest.mark.parametrize("name", ["", "9lives", "a b", "../x", "a--b", "a-", "naïve", "a/b"])
def test_a_name_that_cannot_be_one(name: str) -> None:
    with pytest.raises(UserError, match="cannot be the name of a connector"):
        names(name)


def test_the_names_of_the_parts() -> None:
    assert names("cityWeather_v2") == {
        "name": "cityweather-v2",
        "title": "CityWeatherV2",
        "project": "cityweather-v2-connector",
        "module": "cityweather_v2_connector",
    }
