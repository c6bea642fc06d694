from __future__ import annotations

import base64
import html
import json
from typing import Literal
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from secret_shapes import secret_shapes

from rocm3d.model.base import Digest, Record
from rocm3d.record import redact
from rocm3d.record.redact import Redactor


@pytest.mark.parametrize(
    ("command", "redacted"),
    [
        (["--token", "abc"], ("--token", "(redacted)")),
        (["--hf-token=abc"], ("--hf-token=(redacted)",)),
        (["WANDB_API_KEY=abc"], ("WANDB_API_KEY=(redacted)",)),
        (["--password", "--other", "x"], ("--password", "--other", "x")),
        (["hf_abcdefghijklmnopqrst"], ("(redacted)",)),
        (["git+https://me:secret@host/a.git"], ("git+https://(redacted)@host/a.git",)),
        (["tokenizer.json", "--max-tokens", "5"], ("tokenizer.json", "--max-tokens", "5")),
        (["python", "keyframes.py", "--seed=1"], ("python", "keyframes.py", "--seed=1")),
    ],
)
def test_secrets_are_redacted_in_commands(command, redacted):
    assert redact.Redactor().arguments(command) == redacted


def test_variables_are_hidden_by_name_and_by_value():
    environment = {"HF_TOKEN": "a", "HIP_VISIBLE_DEVICES": "0", "INDEX": "https://u:p@host/simple"}

    assert redact.variables(environment) == {
        "HF_TOKEN": "(redacted)",
        "HIP_VISIBLE_DEVICES": "0",
        "INDEX": "https://(redacted)@host/simple",
    }


@given(st.text(alphabet="abcdef0123456789", min_size=20, max_size=40), st.text(max_size=10), st.text(max_size=10))
def test_token_is_redacted_at_any_position(token, before, after):
    assert token not in redact.text(f"{before} ghp_{token} {after}") or token in before + after


def test_every_shape_is_removed_from_arguments_and_variables_and_texts_stay_redacted():
    for label, secret, contexts in secret_shapes():
        for make in contexts.argv:
            redacted = Redactor().arguments(make(secret))
            assert not any(secret in word for word in redacted), (label, redacted)
            assert Redactor().arguments(redacted) == redacted
        for name in contexts.env:
            assert secret not in Redactor().variables({name: secret})[name], (label, name)
        for make in contexts.output:
            text = Redactor().text(make(secret))
            assert Redactor().text(text) == text


@pytest.mark.parametrize(
    ("command", "environment", "values"),
    [
        (["x", "--token", "correct horse"], {}, {"correct horse"}),
        (["sh", "-c", "API_KEY=hunter2x9 tool"], {}, {"hunter2x9"}),
        (["git", "clone", "https://me:hunter2x9@host/a"], {}, {"me:hunter2x9", "hunter2x9"}),
        (["x"], {"DB_PASSWORD": "hunter2x9", "HF_TOKEN_PATH": "/a/b", "MY_TOKEN": "/run/secrets/token"}, {"hunter2x9"}),
        (["x", "--token", "short"], {"AUTH": "none", "MAX_TOKENS": "1000000", "SOME_TOKEN": "1234567"}, set()),
    ],
)
def test_secrets_of_a_run_are_known_by_value(command, environment, values):
    known = Redactor.for_run(command, environment).values
    assert values <= known
    assert len(known - values) <= 1


@pytest.mark.parametrize("value", ["correct horse/1", 'quote"d \\ pass', "schlüssel-wörter", "<a&b>secret"])
def test_a_known_value_is_removed_in_every_spelling(value):
    spellings = [
        value, json.dumps(value), repr(value), quote(value, safe=""), quote_plus(value), html.escape(value),
        base64.b64encode(value.encode()).decode(), value.encode().hex(),
    ]  # fmt: skip
    for spelling in spellings:
        redacted = Redactor([value]).text(f"<{spelling}>")
        assert spelling.strip("\"'=") not in redacted
        assert "(redacted)" in redacted


def test_paths_stay_different():
    names = Redactor(["hunter2x9", "hunter3x9"]).paths(["a/hunter2x9.ply", "a/hunter3x9.ply", "b.ply", "b.ply"])
    assert names == {"a/hunter2x9.ply": "a/(redacted).ply", "a/hunter3x9.ply": "a/(redacted)-2.ply", "b.ply": "b.ply"}


class Inner(Record):
    text: str
    sha256: Digest


class Outer(Record):
    command: tuple[str, ...]
    kind: Literal["password"]
    inner: tuple[Inner, ...]
    variables: dict[str, str]
    numbers: dict[str, int]


def test_every_field_is_searched_except_those_of_an_exempt_type():
    hex40 = "9fceb02d0ae598e95dc970b74767f19372d61af8"
    record = Outer(
        command=("x", "--token", "abc"),
        kind="password",
        inner=(Inner(text=f"key={hex40}", sha256=f"key={hex40}"),),
        variables={"API_KEY": "x", "A": "token=hunter2x9"},
        numbers={"api_key=hunter2x9": 5},
    )
    redacted = Redactor(["password"]).record(record)

    assert redacted.command == ("x", "--token", "(redacted)")
    assert redacted.kind == "password"
    assert redacted.inner == (Inner(text="key=(redacted)", sha256=f"key={hex40}"),)
    assert redacted.variables == {"A": "token=(redacted)", "API_KEY": "(redacted)"}
    assert redacted.numbers == {"api_key=(redacted)": 5}


PIECES = st.sampled_from(
    [
        "token", "api_key", "--password", " ", "=", ":", '"', "'", "\\", "%3D", "Bearer ", "Authorization", ",", "(",
        ")", "<", ">", "/", "://", "@", "mysql -p", "curl -u ", "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "(redacted)", "key", "abc", "x1y2", "\n", "login", "&", "hunter2x9", "wandb login ",
        "9fceb02d0ae598e95dc970b74767f19372d61af8",
    ]
)  # fmt: skip


@settings(max_examples=1000)
@given(st.lists(PIECES | st.text(max_size=3), max_size=12))
def test_redacting_twice_changes_nothing_more(pieces):
    """Else a finished bundle would not be sealed."""
    redactor = Redactor(["hunter2x9"])
    once = redactor.text("".join(pieces))
    assert redactor.text(once) == once
    words = redactor.arguments(pieces)
    assert redactor.arguments(words) == words
