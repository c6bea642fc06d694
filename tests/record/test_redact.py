from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.record import redact


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
