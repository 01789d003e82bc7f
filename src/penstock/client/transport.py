"""One HTTP exchange with a worker: its answer, or an error of this room."""

from __future__ import annotations

import ipaddress
from typing import Any

import httpx

from penstock.client.advice import CHECK_ADDRESS, NEXT_STEP, after
from penstock.client.credentials import ANONYMOUS, Credentials
from penstock.client.errors import ConnectApiError, ConnectError, WorkerUnreachable

EXAMPLE = "http://127.0.0.1:8083"
TRANSIENT = (409, 503)


class Transport:
    """Sends requests to one worker and keeps its connections. Thread-safe."""

    def __init__(self, url: str, timeout: float, credentials: Credentials = ANONYMOUS) -> None:
        self.url = url.rstrip("/")
        try:
            parsed = httpx.URL(self.url)
        except httpx.InvalidURL as error:
            raise ConnectError(f"{url} is not a URL: {error}; one looks like {EXAMPLE}") from error
        if parsed.scheme not in ("http", "https") or not parsed.host:
            raise ConnectError(f"{url} is not the URL of a worker; one looks like {EXAMPLE}")
        here = _is_loopback(parsed.host)
        if credentials.token and parsed.scheme == "http" and not here:
            raise ConnectError(
                f"Not sent: {url} is not encrypted, and anyone on the network could read your "
                "token. Use an https:// address, or unset PENSTOCK_TOKEN."
            )
        # A proxy of this machine's environment cannot know what runs on this machine.
        self._http = httpx.Client(
            timeout=timeout,
            trust_env=not here,
            headers=credentials.headers(),
            verify=credentials.context() if parsed.scheme == "https" else True,
        )

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send a request; whatever was answered, errors too."""
        try:
            return self._http.request(method, self.url + path, **options)
        except httpx.TimeoutException as error:
            raise WorkerUnreachable(self.url, "it took too long") from error
        except httpx.TransportError as error:
            raise WorkerUnreachable(self.url, str(error) or type(error).__name__) from error

    def call(self, method: str, path: str, **options: Any) -> Any:
        """Send a request; the JSON of the answer, None if it has no body."""
        response = self.answer(method, path, **options)
        return _json(response) if response.content else None

    def answer(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send a request; its answer, ConnectApiError if that is an error."""
        response = self.send(method, path, **options)
        if not response.is_success:
            raise _refusal(response, path)
        return response


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _json(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError as error:
        raise ConnectApiError(
            response.status_code, f"{response.url} answered with something other than JSON"
        ).advising(CHECK_ADDRESS) from error


def _refusal(response: httpx.Response, path: str) -> ConnectApiError:
    own_words = f"HTTP {response.status_code} "
    try:
        message = str(response.json()["message"])
    except (ValueError, KeyError, TypeError):
        message = f"{own_words}{response.reason_phrase}"
    # A worker's HTTP server says no more than this of a path that it does not have.
    no_worker = message.startswith(own_words) and response.status_code not in TRANSIENT
    told = response.headers.get(NEXT_STEP, "")
    advice = told or (CHECK_ADDRESS if no_worker else after(response.status_code, path))
    return ConnectApiError(response.status_code, message).advising(advice)
