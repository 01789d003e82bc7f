"""Config providers: what they give, what they refuse, and how references are resolved."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Mapping
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from penstock.config.references import Providers
from penstock.runtime.config import provider_config
from penstock.runtime.config.provider_config import providers_of
from penstock.sdk import ConfigDef, ConfigKey, ConfigProvider
from penstock.sdk.errors import ConfigError

PACKAGE = "org.apache.kafka.common.config.provider."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What may be read."""
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (allowed / "s.properties").write_text("user=anna\npassword=geheim=1\nempty=\n")
    (allowed / "token").write_text("tick:et\n")
    (tmp_path / "outside.properties").write_text("password=forbidden\n")
    return allowed


@pytest.fixture
def providers(folder: Path) -> Providers:
    return providers_of(
        {
            "config.providers": "file, dir,env",
            "config.providers.file.class": PACKAGE + "FileConfigProvider",
            "config.providers.file.param.allowed.paths": str(folder),
            "config.providers.dir.class": "DirectoryConfigProvider",
            "config.providers.dir.param.allowed.paths": f"{folder}, {folder}/token",
            "config.providers.env.class": PACKAGE + "EnvVarConfigProvider",
            "config.providers.env.param.allowlist.pattern": "PENSTOCK_TEST_.*",
        }
    )


def one(providers: Providers, text: str) -> str:
    return providers.resolve({"k": text}).config["k"]


def test_each_kind_whole_and_inside_of_a_text(
    providers: Providers, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_TEST_NAME", "wert")
    file = f"{folder}/s.properties"
    assert one(providers, f"${{file:{file}:user}}") == "anna"
    assert one(providers, f"${{dir:{folder}:token}}") == "tick:et\n"
    assert one(providers, "${env:PENSTOCK_TEST_NAME}") == "wert"
    text = f"jdbc://${{file:{file}:user}}:${{file:{file}:password}}@h/${{env:PENSTOCK_TEST_NAME}}?"
    assert one(providers, text) == "jdbc://anna:geheim=1@h/wert?"
    assert one(providers, f"[${{file:{file}:empty}}]") == "[]"


@pytest.mark.parametrize(
    "reference",
    [
        "${file:{folder}/s.properties:absent}",
        "${dir:{folder}:absent}",
        "${env:PENSTOCK_TEST_ABSENT}",
        "${env:HOME}",
        "${other:{folder}/s.properties:user}",
        "${file:{folder}/../outside.properties:password}",
        "${file:{folder}/link.properties:password}",
        "${file:relative.properties:password}",
        "${dir:{folder}:../outside.properties}",
        "${dir:{folder}:linked}",
        "${dir:{folder}/..:outside.properties}",
        "${nothing}",
        "${}",
    ],
)
def test_what_is_not_there_or_not_allowed_stays_as_it_is(
    providers: Providers, folder: Path, reference: str
) -> None:
    (folder / "link.properties").symlink_to(folder.parent / "outside.properties")
    (folder / "linked").symlink_to(folder.parent / "outside.properties")
    text = "a" + reference.replace("{folder}", str(folder)) + "b"
    found = providers.resolve({"k": text})
    assert found.config == {"k": text}
    assert found.secrets == ()
    assert all(missing in text for missing in found.missing)


def test_a_link_within_the_allowed_folder_is_followed(providers: Providers, folder: Path) -> None:
    """As Kubernetes mounts secrets."""
    (folder / "..1").mkdir()
    (folder / "..1" / "pw").write_text("erstes")
    (folder / "..data").symlink_to("..1")
    (folder / "pw").symlink_to("..data/pw")
    reference = f"${{dir:{folder}:pw}}"
    before = providers.files({"k": reference})
    assert one(providers, reference) == "erstes"
    (folder / "..2").mkdir()
    (folder / "..2" / "pw").write_text("zweites")
    (folder / "new").symlink_to("..2")
    os.replace(folder / "new", folder / "..data")  # noqa: PTH105 (renames the link itself)
    assert one(providers, reference) == "zweites"
    assert providers.files({"k": reference}) != before


def test_a_file_that_cannot_be_read_is_named_without_its_content(
    providers: Providers, folder: Path
) -> None:
    broken = folder / "broken.properties"
    broken.write_text("geheim\n")
    with pytest.raises(ConfigError, match=f"^Could not read properties from file {broken}$"):
        one(providers, f"${{file:{broken}:key}}")
    with pytest.raises(ConfigError, match="Could not read properties from file"):
        one(providers, f"${{file:{folder}/absent:key}}")


def test_environment_takes_no_path(providers: Providers) -> None:
    with pytest.raises(ConfigError, match="Path is not supported for EnvVarConfigProvider"):
        one(providers, "${env:/etc:PENSTOCK_TEST_NAME}")


def test_a_connectors_config_defines_no_providers(folder: Path) -> None:
    config = {
        "config.providers": "mine",
        "config.providers.mine.class": PACKAGE + "FileConfigProvider",
        "config.providers.mine.param.allowed.paths": str(folder),
        "k": f"${{mine:{folder}/s.properties:user}}",
    }
    assert Providers().resolve(config).config == {"k": config["k"]}


def test_task_configs_get_their_references_back(providers: Providers, folder: Path) -> None:
    """Under its own key, under another, and in the middle of a text that a connector has made."""
    raw = {
        "pw": f"${{file:{folder}/s.properties:password}}",
        "url": f"x://${{file:{folder}/s.properties:user}}@h",
        "plain": "p",
        "name": "susanna",
    }
    found = providers.resolve(raw)
    assert found.config["pw"] == "geheim=1"
    made = {**found.config, "copy": "geheim=1", "dsn": "u=anna;p=geheim=1", "task": "0"}
    templated = found.templated(raw, made)
    pw, user = raw["pw"], f"${{file:{folder}/s.properties:user}}"
    assert templated == {**raw, "copy": pw, "dsn": f"u={user};p={pw}", "task": "0"}
    assert providers.resolve(templated).config == made


def test_what_was_found_is_secret_line_by_line(providers: Providers, folder: Path) -> None:
    (folder / "pem").write_text("-----BEGIN-----\nMIIabc\n")
    found = providers.resolve(
        {"a": f"${{dir:{folder}:pem}}", "b": f"${{file:{folder}/s.properties:user}}"}
    )
    assert set(found.secrets) >= {"MIIabc", "anna"}


def test_providers_travel(providers: Providers, folder: Path) -> None:
    again: Providers = pickle.loads(pickle.dumps(providers))  # noqa: S301 (just made)
    assert one(again, f"${{file:{folder}/s.properties:user}}") == "anna"
    assert b"anna" not in pickle.dumps(providers)


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({}, 'Missing required configuration "config.providers.p.class"'),
        ({"class": "a.B"}, "Class a.B could not be found"),
        ({"class": "FileConfigProvider"}, "config.providers.p.param.allowed.paths is not set"),
        ({"class": "DirectoryConfigProvider"}, "param.allowed.paths is not set"),
        ({"class": "EnvVarConfigProvider"}, "param.allowlist.pattern is not set"),
        (
            {"class": "EnvVarConfigProvider", "param.allowlist.pattern": "("},
            "Invalid regex",
        ),
        ({"class": "FileConfigProvider", "param.allowed.paths": "a"}, "a is not absolute"),
        ({"class": "FileConfigProvider", "param.allowed.paths": "/a-b-c"}, "does not exist"),
    ],
)
def test_wrong_definitions(properties: dict[str, str], message: str) -> None:
    prefixed = {f"config.providers.p.{key}": value for key, value in properties.items()}
    with pytest.raises(ConfigError, match=message):
        providers_of({"config.providers": "p", **prefixed})


class Vault(ConfigProvider):
    """Knows one secret, and breaks on request."""

    config_def = ConfigDef(ConfigKey("address"))

    def configure(self, config: Mapping[str, str]) -> None:
        self._address = self.config_def.parse(config)["address"]

    def get(self, path: str, key: str) -> str | None:
        if key == "broken":
            raise OSError("the token is geheim=1")
        if key == "refused":
            raise ConfigError(f"{path} is closed to connectors")
        return f"{self._address}/{path}" if key == "password" else None


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with two providers, one of which cannot be loaded."""
    points = [
        EntryPoint("vault", f"{__name__}:Vault", provider_config.GROUP),
        EntryPoint("broken", "no_such_package:Broken", provider_config.GROUP),
    ]
    monkeypatch.setattr(provider_config, "entry_points", lambda group: points)
    monkeypatch.setitem(sys.modules, __name__, sys.modules[Vault.__module__])


def plugged(class_name: str) -> Providers:
    return providers_of(
        {
            "config.providers": "v",
            "config.providers.v.class": class_name,
            "config.providers.v.param.address": "http://vault",
        }
    )


@pytest.mark.usefixtures("installed")
def test_a_provider_of_another_package() -> None:
    for name in ("Vault", f"{__name__}.Vault"):
        assert one(plugged(name), "a ${v:db:password}!") == "a http://vault/db!"
    found = plugged("vault")
    assert one(found, "${v:db:password}") == "http://vault/db"
    assert one(found, "${v:db:nothing}") == "${v:db:nothing}"
    assert found.files({"k": "${v:db:password}"}) == set()
    assert found.resolve({"k": "${v:db:password}"}).secrets == ("http://vault/db",)
    again: Providers = pickle.loads(pickle.dumps(found))  # noqa: S301 (just made)
    assert one(again, "${v:db:password}") == "http://vault/db"


@pytest.mark.usefixtures("installed")
def test_what_goes_wrong_in_it_is_told_without_a_secret() -> None:
    found = plugged("vault")
    with pytest.raises(ConfigError) as caught:
        one(found, "${v:db:broken}")
    assert str(caught.value) == "Config provider v could not look up broken in db: OSError"
    with pytest.raises(ConfigError, match="db is closed to connectors"):
        one(found, "${v:db:refused}")
    with pytest.raises(ConfigError, match="Class broken: it cannot be loaded"):
        plugged("broken")
    with pytest.raises(ConfigError, match=r"There are: .*EnvVarConfigProvider, broken, vault"):
        plugged("a.B")
    with pytest.raises(ConfigError, match="address"):
        providers_of({"config.providers": "v", "config.providers.v.class": "vault"})
