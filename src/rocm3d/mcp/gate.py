"""Access control for HTTP: only local programs with the token, and no web page in a browser."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_NAMES = ("127.0.0.1", "localhost", "[::1]")


class Gate:
    """ASGI middleware in front of the application. Refusals reveal nothing about it."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app, self.token = app, token.encode()
        self.hosts = {f"{name}:{port}" for name in _NAMES}
        self.origins = {f"http://{host}" for host in self.hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        refusal = (
            self._refused(Headers(scope=scope)) if scope["type"] == "http" else _plain(403, "only HTTP is supported")
        )
        await (refusal or self.app)(scope, receive, send)

    def _refused(self, headers: Headers) -> PlainTextResponse | None:
        hosts, origins, said = (headers.getlist(name) for name in ("host", "origin", "authorization"))
        # Protects against DNS rebinding: a foreign host name that resolves to this machine.
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return _plain(421, "this Host is not allowed")
        if origins and (len(origins) != 1 or origins[0].lower() not in self.origins):
            return _plain(403, "this Origin is not allowed")
        if len(said) != 1 or not self._knows(said[0]):
            return _plain(401, "the token is missing or wrong", {"WWW-Authenticate": "Bearer"})
        return None

    def _knows(self, said: str) -> bool:
        scheme, _, token = said.partition(" ")
        given = token.strip().encode("utf-8", "replace")
        return scheme.lower() == "bearer" and hmac.compare_digest(given, self.token)


def _plain(status: int, text: str, headers: dict[str, str] | None = None) -> PlainTextResponse:
    return PlainTextResponse(f"{text}\n", status, headers)
