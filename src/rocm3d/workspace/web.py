"""The only module that sends HTTP requests: bounded in time and size."""

from __future__ import annotations

import re
import ssl
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import getproxies, url2pathname

from rocm3d import __version__

_SCHEMES = ("http", "https", "file")
_CONNECTIONS = 4
_HEADERS = {"User-Agent": f"rocm3d/{__version__}"}


@dataclass
class WebClient:
    """Uses the proxies of the environment. `certificates` is a file of trusted certificates, like `cert` of pip."""

    certificates: str = ""
    seconds: float = 10.0
    _reachability: dict[str, str] = field(default_factory=dict)

    def why_unreachable(self, url: str) -> str:
        """Empty if the server responds, even with an HTTP error; else the reason. One request per server."""
        try:
            parts = urlsplit(url)
        except ValueError as error:
            return str(error)
        if parts.scheme not in _SCHEMES:
            return f"unsupported scheme {parts.scheme!r}"
        if parts.scheme == "file":
            return "" if Path(url2pathname(parts.path)).exists() else "does not exist"
        server = f"{parts.scheme}://{parts.netloc}"
        if server not in self._reachability:
            self._reachability[server] = self._request_failure(
                urlunsplit((parts.scheme, parts.netloc, parts.path, "", ""))
            )
        return self._reachability[server]

    def size(self, url: str) -> int | None:
        """The size of a file in bytes, by a HEAD request; None if the server does not report it."""
        try:
            with self._open(url, "HEAD") as response:
                length = response.headers.get("Content-Length")
        except (OSError, ValueError):
            return None
        return int(length) if length and length.isdigit() else None

    def sizes(self, urls: Iterable[str]) -> Mapping[str, int | None]:
        """Sizes of several files, over few connections: DNS servers drop requests that come in bursts."""
        servers: dict[str, list[str]] = {}
        for url in dict.fromkeys(urls):
            servers.setdefault(url.partition("://")[2].partition("/")[0], []).append(url)
        parts = [server_urls[start::_CONNECTIONS] for server_urls in servers.values() for start in range(_CONNECTIONS)]
        with ThreadPoolExecutor(_CONNECTIONS) as pool:
            return {url: size for sizes in pool.map(self._sizes, filter(None, parts)) for url, size in sizes.items()}

    def _sizes(self, urls: list[str]) -> dict[str, int | None]:
        """Sizes of files on one server, over one connection if no proxy or password is involved."""
        first = urlsplit(urls[0])
        if (
            first.scheme not in ("http", "https")
            or first.username
            or first.scheme in getproxies()
            or not first.hostname
        ):
            return {url: self.size(url) for url in urls}
        connection = (
            HTTPSConnection(first.hostname, first.port, timeout=self.seconds, context=self._context)
            if first.scheme == "https"
            else HTTPConnection(first.hostname, first.port, timeout=self.seconds)
        )
        try:
            return {url: self._size_over(connection, url) for url in urls}
        finally:
            connection.close()

    def _size_over(self, connection: HTTPConnection, url: str) -> int | None:
        parts = urlsplit(url)
        try:
            connection.request("HEAD", urlunsplit(("", "", parts.path, parts.query, "")), headers=_HEADERS)
            response = connection.getresponse()
            response.read()
        except (OSError, HTTPException):
            connection.close()
            return self.size(url)
        length = response.headers.get("Content-Length", "")
        return int(length) if response.status == 200 and length.isdigit() else self.size(url)

    def fetch(self, url: str, max_bytes: int) -> bytes | None:
        """Download a file; None if that fails or the file is larger than the limit in bytes."""
        try:
            with self._open(url, "GET") as response:
                data: bytes = response.read(max_bytes + 1)
        except (OSError, ValueError):
            return None
        return data if len(data) <= max_bytes else None

    @cached_property
    def _opener(self) -> urllib.request.OpenerDirector:
        return urllib.request.build_opener(urllib.request.HTTPSHandler(context=self._context))

    @cached_property
    def _context(self) -> ssl.SSLContext:
        # Created once: reading the certificates takes longer than a small response.
        return ssl.create_default_context(cafile=self.certificates or None)

    def _request_failure(self, url: str) -> str:
        try:
            self._open(url, "HEAD").close()
        except urllib.error.HTTPError:
            return ""  # the server responded
        except urllib.error.URLError as error:
            return str(getattr(error.reason, "strerror", None) or error.reason)
        except (OSError, ValueError) as error:
            return str(error)
        return ""

    def _open(self, url: str, method: str) -> Any:  # urllib's responses have no common type
        parts = urlsplit(url)
        if parts.scheme not in _SCHEMES:
            raise ValueError(f"{without_secrets(url)}: unsupported scheme")
        headers = dict(_HEADERS)
        if parts.username is not None:  # urllib would treat it as part of the host name
            pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        request = urllib.request.Request(without_secrets(url), headers=headers, method=method)  # noqa: S310
        return self._opener.open(request, timeout=self.seconds)


def without_secrets(url: str) -> str:
    """A URL without user name and password, for messages."""
    return re.sub(r"(?<=://)[^/?#]*@", "", url)
