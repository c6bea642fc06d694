from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.record import redact


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (["--token", "abc"], ("--token", "(redacted)")),
        (["--hf-token=abc"], ("--hf-token=(redacted)",)),
        (["WANDB_API_KEY=abc"], ("WANDB_API_KEY=(redacted)",)),
        (["--password", "--other", "x"], ("--password", "--other", "x")),
        (["hf_abcdefghijklmnopqrst"], ("(redacted)",)),
        (["git+https://me:secret@host/a.git"], ("git+https://(redacted)@host/a.git",)),
        (["tokenizer.json", "--max-tokens", "5"], ("tokenizer.json", "--max-tokens", "(redacted)")),
        (["python", "keyframes.py", "--seed=1"], ("python", "keyframes.py", "--seed=1")),
    ],
)
def test_what_gives_a_secret_away_is_hidden_in_a_command(words, kept):
    """Rather too much is redacted than too little."""
    assert redact.arguments(words) == kept


def test_variables_are_hidden_by_name_and_by_value():
    given_ = {"HF_TOKEN": "a", "HIP_VISIBLE_DEVICES": "0", "INDEX": "https://u:p@host/simple"}

    assert redact.variables(given_) == {
        "HF_TOKEN": "(redacted)",
        "HIP_VISIBLE_DEVICES": "0",
        "INDEX": "https://(redacted)@host/simple",
    }


@given(st.text(alphabet="abcdef0123456789", min_size=20, max_size=40), st.text(max_size=10), st.text(max_size=10))
def test_a_token_is_gone_wherever_it_stands(token, before, after):
    assert token not in redact.text(f"{before} ghp_{token} {after}") or token in before + after
