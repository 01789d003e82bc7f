"""How a client says who it is, and whom it trusts."""

from __future__ import annotations

import base64
import ssl
from dataclasses import dataclass, field

from penstock.client.errors import ConnectError


@dataclass(frozen=True)
class Credentials:
    """Empty where not wanted.

    ``token`` is ``name.secret``, sent as a bearer token; ``name:secret`` is sent by basic
    authentication, which real Kafka Connect takes as well. ``ca_file`` holds the certificates that
    are trusted instead of the system's: authorities, or the worker's own. ``certificate`` and
    ``key`` are for a worker that wants clients to show one. Files are PEM.
    """

    token: str = field(default="", repr=False)
    ca_file: str = ""
    certificate: str = ""
    key: str = ""

    def headers(self) -> dict[str, str]:
        """What goes with every request."""
        if not self.token:
            return {}
        name, colon, _ = self.token.partition(":")
        if colon and "." not in name:
            return {"Authorization": f"Basic {base64.b64encode(self.token.encode()).decode()}"}
        return {"Authorization": f"Bearer {self.token}"}

    def context(self) -> ssl.SSLContext:
        """For TLS; ConnectError names the file that cannot be used."""
        try:
            context = ssl.create_default_context(cafile=self.ca_file or None)
            # Else a certificate that is trusted by name would also need its authority.
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
            if self.certificate:
                context.load_cert_chain(self.certificate, self.key or None, password="")
        except OSError as error:
            files = ", ".join(filter(None, (self.ca_file, self.certificate, self.key)))
            raise ConnectError(
                f"{files} cannot be used for TLS: {error.strerror or error}. They must be PEM "
                "files; see PENSTOCK_CA_FILE, PENSTOCK_CLIENT_CERTIFICATE and PENSTOCK_CLIENT_KEY."
            ) from error
        return context


ANONYMOUS = Credentials()
