"""Secrets as people have them, and the places in which they reach a recorded run. Every value here is random."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass

ALNUM, HEX = string.ascii_letters + string.digits, "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits


@dataclass(frozen=True)
class Secret:
    """A secret; `known` if its form alone shows that it is one."""

    label: str
    text: str
    known: bool


@dataclass(frozen=True)
class Placed:
    """A secret in its place: arguments and variables of the program, and what it prints."""

    label: str
    text: str
    arguments: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    printed: str = ""


def placed_secrets(seed: str) -> Iterator[Placed]:
    """Every secret in every place where it has to be recognised."""
    choice = random.Random(seed)  # noqa: S311  (made up, not kept)
    for secret in _secrets(choice):
        for label, make in {**BESIDE_A_NAME, **(ALONE if secret.known else {})}.items():
            yield make(f"{secret.label}, {label}", secret.text)


def _secrets(choice: random.Random) -> Iterator[Secret]:
    def word(length: int, letters: str = ALNUM) -> str:
        return "".join(choice.choice(letters) for _ in range(length))

    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    yield Secret("Hugging Face token", f"hf_{word(34)}", known=True)
    yield Secret("GitHub token", f"ghp_{word(36)}", known=True)
    yield Secret("GitHub token of an app", f"ghs_{word(36)}", known=True)
    yield Secret("fine-grained GitHub token", f"github_pat_{word(22)}_{word(59)}", known=True)
    yield Secret("GitLab token", f"glpat-{word(20)}", known=True)
    yield Secret("AWS key id", f"AKIA{word(16, UPPER)}", known=True)
    yield Secret("JWT", f"{part({'alg': 'HS256'})}.{part({'sub': word(12)})}.{word(43)}", known=True)
    yield Secret("OpenAI key", f"sk-proj-{word(48)}", known=True)
    yield Secret("Slack token", f"xoxb-{word(12, string.digits)}-{word(12, string.digits)}-{word(24)}", known=True)
    yield Secret("Google key", f"AIza{word(35)}", known=True)
    yield Secret("npm token", f"npm_{word(36)}", known=True)
    yield Secret("PyPI token", f"pypi-AgEIcHlwaS5vcmc{word(100)}", known=True)
    yield Secret("hexadecimal key", word(40, HEX), known=False)
    yield Secret("password", f"{word(9)}!{word(4)}", known=False)


def _argument(*form: str) -> Callable[[str, str], Placed]:
    return lambda label, text: Placed(label, text, arguments=tuple(part.replace("{}", text) for part in form))


def _printed(form: str) -> Callable[[str, str], Placed]:
    return lambda label, text: Placed(label, text, printed=form.replace("{}", text))


def _variable(name: str) -> Callable[[str, str], Placed]:
    return lambda label, text: Placed(label, text, variables=((name, text),), printed="ran")


BESIDE_A_NAME = {
    "--api-key X": _argument("--api-key", "{}"),
    "--api-key=X": _argument("--api-key={}"),
    "--password X": _argument("--password", "{}"),
    "--access-key X": _argument("--access-key", "{}"),
    "--aws-secret-access-key=X": _argument("--aws-secret-access-key={}"),
    "--hf_token X": _argument("--hf_token", "{}"),
    "NAME=X": _argument("API_KEY={}"),
    "header": _argument("-H", "Authorization: Bearer {}"),
    "URL": _argument("https://user:{}@host.invalid/a.git"),
    "query of a URL": _argument("https://host.invalid/a?token={}&b=c"),
    "JSON argument": _argument('{"api_key": "{}"}'),
    "variable": _variable("SERVICE_API_KEY"),
    "printed name": _printed("token: {}\n"),
    "printed JSON": _printed('{"password": "{}", "a": 1}\n'),
    "printed header": _printed("> Authorization: Bearer {}\r\n"),
    "printed assignment": _printed("export API_KEY='{}'\n"),
}
ALONE = {
    "argument": _argument("{}"),
    "inside an argument": _argument("--remote=https://host.invalid/{}/a"),
    "printed": _printed("{}\n"),
    "printed in a line": _printed("loading model with {} from hub\n"),
    "printed in colour": _printed("\x1b[31m{}\x1b[0m\n"),
    "printed without a line end": _printed("{}"),
    "printed at the end of a buffer": _printed("a" * 65520 + " {}\n"),
    "printed in a traceback": _printed("  File 'a', line 1, in b\nKeyError: '{}'\n"),
}
