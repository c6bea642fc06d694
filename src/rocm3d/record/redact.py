"""Removes secrets from records: by the name of a variable or option, and by the format of a value."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

HIDDEN = "(redacted)"
_SECRET_NAME = re.compile(r"token|secret|passw|passphrase|credential|api_?key|access_?key|private|auth", re.IGNORECASE)
_SECRET_VALUE = re.compile(
    r"""\b(?:hf_|sk-|ghp_|gho_|github_pat_|glpat-|xox[bap]-|AKIA|wandb_v1_)[A-Za-z0-9_-]{12,}  # API tokens of services
    |\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*                                                       # a signed JSON token
    |(?<=://)[^/\s@]+(?=@)                                                                     # user:password of a URL
    """,
    re.VERBOSE,
)


def text(value: str) -> str:
    """Replace everything that has the format of a secret."""
    return _SECRET_VALUE.sub(HIDDEN, value)


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Redact environment variables: the complete value if the name is a secret's, else the secret parts."""
    return {name: HIDDEN if _SECRET_NAME.search(name) else text(value) for name, value in sorted(environment.items())}


def arguments(command: Sequence[str]) -> tuple[str, ...]:
    """Redact a command line, including `--token X`, `--token=X` and `TOKEN=X`."""
    redacted, hide = [], False
    for argument in command:
        name, equals, _ = argument.partition("=")
        is_secret = bool(_SECRET_NAME.search(name)) and (name.startswith("-") or bool(equals))
        if hide and not argument.startswith("-"):
            redacted.append(HIDDEN)
        elif is_secret and equals:
            redacted.append(f"{name}={HIDDEN}")
        else:
            redacted.append(text(argument))
        hide = is_secret and not equals
    return tuple(redacted)
