from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secret_shapes import HARMLESS, secret_shapes

from rocm3d.record.secret_spans import MAX_SECRET, find_secrets, opens_private_key, password_words

SHAPES = list(secret_shapes())


@pytest.mark.parametrize("text", HARMLESS)
def test_digests_commits_versions_and_paths_are_no_secrets(text):
    assert [text[span.start : span.end] for span in find_secrets(text.encode())] == []


def test_there_are_more_than_a_hundred_shapes():
    assert len(SHAPES) > 100
    assert len({label for label, _, _ in SHAPES}) == len(SHAPES)


@pytest.mark.parametrize(
    ("label", "secret", "contexts"), [shape for shape in SHAPES if shape[2].output], ids=lambda x: x
)
def test_every_shape_is_found_in_every_text(label, secret, contexts):
    for make in contexts.output:
        text = make(secret).encode()
        remaining = bytearray(text)
        for span in find_secrets(text):
            remaining[span.start : span.end] = b" " * (span.end - span.start)
        assert not any(line.encode() in remaining for line in secret.splitlines()), (label, text)


def test_the_kind_names_nothing_of_the_secret():
    for _, secret, contexts in SHAPES:
        for make in contexts.output:
            assert not any(secret in span.kind for span in find_secrets(make(secret).encode()))


@given(st.binary(max_size=400))
def test_any_bytes_have_spans_in_order(data):
    spans = find_secrets(data)
    assert all(0 <= span.start < span.end <= len(data) for span in spans)
    assert all(one.end <= other.start for one, other in pairwise(spans))


@pytest.mark.parametrize(
    "words",
    [
        ["ssh", "-p", "22"],
        ["mkdir", "-p", "a"],
        ["python", "-p", "x"],
        ["docker", "run", "-p", "80:80"],
        ["mysql", "-p"],
        [],
    ],
)
def test_options_of_other_programs_are_no_passwords(words):
    assert list(password_words([word.encode() for word in words])) == []


def test_a_wrapped_program_has_its_own_options():
    assert list(password_words([b"/usr/bin/sshpass", b"-p", b"hunter2", b"ssh", b"-p", b"22"])) == [(2, 0, 7)]


def test_a_secret_longer_than_the_limit_is_complete():
    secret = b"a1" * MAX_SECRET
    (span,) = find_secrets(b"token=" + secret + b" rest")
    assert (span.start, span.end) == (6, 6 + len(secret))


def test_an_open_private_key_is_known():
    assert opens_private_key(b"x\n-----BEGIN RSA PRIVATE KEY-----\nMII") == 2
    assert opens_private_key(b"-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\n") == -1
    assert opens_private_key(b"-----BEGIN CERTIFICATE-----\nMII") == -1


@pytest.mark.parametrize(
    "text",
    [
        b"token=" * 20_000, b"A" * 200_000, b"a_" * 100_000, b"://" * 60_000, b"key " * 50_000, b"mysql -p" * 20_000,
        b"-----BEGIN PRIVATE KEY-----" * 5_000, b"password: '" * 15_000, b"eyJ" * 60_000, b"sk-" * 60_000,
    ],
)  # fmt: skip
def test_hostile_text_does_not_take_for_ever(text):
    """About 200 KB each. The bound is generous: a search that is quadratic takes minutes."""
    began = time.process_time()
    find_secrets(text)
    assert time.process_time() - began < 60
