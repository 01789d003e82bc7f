"""Notes for the helper functions of `penstock.client.layer` where the workers are."""

from __future__ import annotations

from penstock.client.layer_state import update_state
from penstock.deploy.cluster import Deployment
from penstock.deploy.options import Options


def record(options: Options, deployment: Deployment) -> None:
    """Address and scheme of REST, topics, and what to say to it, which a Secret holds."""
    name = options.credentials_secret
    secret = deployment.secret(name) if name else {}
    update_state(
        service=deployment.service(),
        scheme="https" if options.tls_secret else "http",
        topics=list(options.topics),
        token=secret.get("token", "").strip() or None,
        ca=secret.get("ca.crt") or None,
    )
