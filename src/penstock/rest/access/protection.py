"""What stands between the network and the herder, as a worker's config asks for it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from pathlib import Path

from penstock.config.references import Providers
from penstock.rest.access.caller import Role
from penstock.rest.access.credentials import Doorkeeper
from penstock.rest.access.hashed_secrets import hashed
from penstock.rest.access.users import LOCAL, User, Users
from penstock.runtime.config.rest_config import RestConfig
from penstock.runtime.plugins import Plugins
from penstock.runtime.validation.secret_keys import SecretKeys


def _of_installed_plugins() -> SecretKeys:
    return SecretKeys(Plugins())


@dataclass(frozen=True)
class Protection:
    """For `create_app`. Made without arguments it needs no authentication, and hides secrets."""

    doorkeeper: Doorkeeper | None = None
    shows_stored: bool = False
    secret_keys: SecretKeys = field(default_factory=_of_installed_plugins)
    admin: bool = True
    """Whether what is below ``/admin`` is served at all."""
    token: str = field(default="", repr=False)
    """Lets this machine's own commands in, as admin; empty without users."""

    @staticmethod
    def of(config: RestConfig, providers: Providers | None = None) -> Protection:
        """What ``config`` asks for; ConfigError if the users file cannot be used.

        A value that is a reference to one of ``providers`` may be shown.
        """
        keys = SecretKeys(Plugins(), providers)
        if config.users_file is None:
            return Protection(secret_keys=keys, admin=config.admin)
        secret = secrets.token_urlsafe(32)
        users = Users(Path(config.users_file), User(LOCAL, Role.ADMIN, hashed(secret)))
        return Protection(
            doorkeeper=Doorkeeper(users),
            shows_stored=config.shows_stored,
            secret_keys=keys,
            admin=config.admin,
            token=f"{LOCAL}.{secret}",
        )
