"""Credentials in URLs: user names with passwords or tokens, and tokens in the query."""

from __future__ import annotations

import re

_HIDDEN = "***"
_USER = re.compile(r"(?<=://)(?P<user>[^/?#\s\"'@]*(?:@[^/?#\s\"'@]*)*)@")
_QUERY = re.compile(
    r"(?P<name>[?&][\w.-]*(?:token|secret|password|passwd|signature|credential|api_?key|access_?key|sig)[\w.-]*=)"
    r"(?P<value>[^&#\s\"']+)",
    re.IGNORECASE,
)
_VARIABLE = re.compile(r"\$\{?\w+\}?|:|%\(\w+\)s")


def has_credentials(text: str) -> bool:
    """Whether a URL in the text has a user name other than `git`, or a token. Variables are no credentials."""
    users = (match["user"] for match in _USER.finditer(text))
    return any(map(_is_secret, users)) or any(_VARIABLE.sub("", match["value"]) for match in _QUERY.finditer(text))


def without_credentials(text: str) -> str:
    """The text with the credentials of its URLs replaced by `***`."""
    if "://" not in text:
        return text
    text = _USER.sub(lambda match: f"{_HIDDEN}@" if _is_secret(match["user"]) else match[0], text)
    return _QUERY.sub(
        lambda match: f"{match['name']}{_HIDDEN}" if _VARIABLE.sub("", match["value"]) else match[0], text
    )


def _is_secret(user: str) -> bool:
    return user not in ("git", "hg", _HIDDEN) and bool(_VARIABLE.sub("", user))
