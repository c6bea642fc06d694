from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.model.credentials import has_credentials, without_credentials

PLAIN = (
    "git+ssh://git@github.com/o/r.git@v1",
    "https://github.com/o/r.git@v1.0",
    "https://${USER}:${TOKEN}@host/simple",
    "https://$TOKEN@host/simple?token=${TOKEN}",
    "name @ https://host/a@b/c.whl",
    "someone@example.com",
    "https://host/simple?tokens=",
)


@pytest.mark.parametrize("text", PLAIN)
def test_text_without_credentials_is_unchanged(text):
    assert (has_credentials(text), without_credentials(text)) == (False, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://user:s3cret@host/simple", "https://***@host/simple"),
        ("git+https://0123abcd@host/o/r.git@v1", "git+https://***@host/o/r.git@v1"),
        ("-i https://a:b@host/ -f https://c:d@host/", "-i https://***@host/ -f https://***@host/"),
        ("https://user:p@ss@host/", "https://***@host/"),
        ("https://user:${A}x@host/", "https://***@host/"),
        ("https://host/a.whl?x=1&access_token=s3cret&y=2", "https://host/a.whl?x=1&access_token=***&y=2"),
    ],
)
def test_credentials_are_replaced(text, expected):
    assert has_credentials(text)
    assert without_credentials(text) == expected
    assert not has_credentials(expected.replace("=***", "="))


@given(st.text(alphabet="abc:/@?#&=.$ {}token", max_size=60))
def test_a_second_pass_changes_nothing(text):
    once = without_credentials(f"https://{text}")
    assert without_credentials(once) == once
