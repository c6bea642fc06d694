from __future__ import annotations

import pytest

from rocm3d.record.secret_names import is_random, is_secret_value, name_kind, rules


@pytest.mark.parametrize(
    "name",
    [
        "tokenizer", "max_tokens", "--num-tokens", "pad_token", "eos_token_id", "TOKENIZERS_PARALLELISM",
        "token_embedding", "keyframe", "cache_key", "public_key", "HF_TOKEN_PATH",
        "SSH_AUTH_SOCK", "author", "sample_token", "turkey", "",
    ],
)  # fmt: skip
def test_names_that_only_sound_like_a_secret(name):
    assert name_kind(name) == ""


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("HF_TOKEN", "secret"), ("hftoken", "secret"), ("--api-key", "secret"), ("apiKey", "secret"),
        ("X-Api-Key", "secret"), ("AWS_ACCESS_KEY_ID", "secret"),
        ("--aws-secret-access-key", "secret"), ("OPENAI_API_KEY_2", "secret"),
        ("clientSecret", "secret"), ("PGPASSWORD", "password"), ("db.password", "password"), ("key", "weak"),
        ("login", "weak"),
    ],
)  # fmt: skip
def test_names_of_secrets(name, kind):
    assert name_kind(name) == kind


@pytest.mark.parametrize("value", [b"$TOKEN", b"${TOKEN}", b"<token>", b"****", b"None", b"512", b"(redacted)", b"abc"])
def test_values_that_are_no_secret_in_running_text(value):
    assert not is_secret_value(value, "secret")


def test_the_placeholder_of_a_usage_text_is_no_secret():
    assert not is_secret_value(b"HF_TOKEN", "secret", "--hf-token")
    assert is_secret_value(b"HF_TOKEN", "secret", "--other-token")


def test_a_number_is_a_secret_only_for_the_name_of_a_password():
    assert is_secret_value(b"123456", "password")
    assert not is_secret_value(b"123456", "secret")


@pytest.mark.parametrize(
    "value", [b"model.layers.0.attn.weight", b"1234567890123456", b"/usr/lib/x86_64/libc12", b"short1"]
)
def test_values_that_are_not_random(value):
    assert not is_random(value)


@pytest.mark.parametrize("value", [b"9fceb02d0ae598e95dc970b74767f19372d61af8", b"aB3dE5gH7jK9mN1pQ"])
def test_random_values(value):
    assert is_random(value)


def test_every_record_has_a_source():
    assert all(item.source for item in (*rules().tokens, *rules().programs))
