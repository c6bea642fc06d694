"""Access control for HTTP: only local programs with the token, and no web page in a browser."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")


class HttpGuard:
    """ASGI middleware in front of the application. Refusals reveal nothing about it."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app, self.token = app, token.encode()
        self.hosts = {f"{name}:{port}" for name in _LOCAL_NAMES}
        self.origins = {f"http://{host}" for host in self.hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        refusal = (
            self._refusal(Headers(scope=scope))
            if scope["type"] == "http"
            else _text_response(403, "only HTTP is supported")
        )
        await (refusal or self.app)(scope, receive, send)

    def _refusal(self, headers: Headers) -> PlainTextResponse | None:
        hosts, origins, authorizations = (headers.getlist(name) for name in ("host", "origin", "authorization"))
        # Protects against DNS rebinding: a foreign host name that resolves to this machine.
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return _text_response(421, "this Host is not allowed")
        if origins and (len(origins) != 1 or origins[0].lower() not in self.origins):
            return _text_response(403, "this Origin is not allowed")
        if len(authorizations) != 1 or not self._is_authorized(authorizations[0]):
            return _text_response(401, "the token is missing or wrong", {"WWW-Authenticate": "Bearer"})
        return None

    def _is_authorized(self, authorization: str) -> bool:
        scheme, _, token = authorization.partition(" ")
        token_bytes = token.strip().encode("utf-8", "replace")
        return scheme.lower() == "bearer" and hmac.compare_digest(token_bytes, self.token)


def _text_response(status: int, text: str, headers: dict[str, str] | None = None) -> PlainTextResponse:
    return PlainTextResponse(f"{text}\n", status, headers)
