from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secret_shapes import secret_shapes

from rocm3d.record import output_file
from rocm3d.record.output_file import MAX_LINE, OutputFile, RedactedStream
from rocm3d.record.redact import Redactor

TEXTS = [(secret, make(secret)) for _, secret, contexts in secret_shapes() for make in contexts.output]


def streamed(data: bytes, sizes: list[int], redactor: Redactor | None = None) -> bytes:
    stream, parts, position = RedactedStream(redactor or Redactor()), [], 0
    for size in sizes:
        parts.append(stream.feed(data[position : position + size]))
        position += size
    return b"".join([*parts, stream.feed(data[position:]), stream.finish()])


@given(st.sampled_from(TEXTS), st.lists(st.integers(1, 30), max_size=40))
def test_a_secret_in_several_chunks_is_removed(text, sizes):
    secret, line = text
    output = streamed(f"before\n{line}\nafter\n".encode(), sizes)

    assert not any(part.encode() in output for part in secret.splitlines())
    assert output.startswith(b"before\n")
    assert output.endswith(b"\nafter\n")


@pytest.mark.parametrize("size", [1, 2, 3])
def test_every_shape_in_the_smallest_chunks(size):
    for secret, line in TEXTS[:: 4 - size]:
        data = f"{line}\n".encode()
        output = streamed(data, [size] * len(data))
        assert not any(part.encode() in output for part in secret.splitlines())


@given(st.binary(max_size=300), st.lists(st.integers(1, 20), max_size=30))
def test_chunks_make_no_difference(data, sizes):
    assert streamed(data, sizes) == streamed(data, [])


def test_output_without_secrets_is_unchanged():
    data = b"\x00\xff\xfe progress 1%\r progress 2%\r\n" * 100 + b"last line without an end"
    assert streamed(data, [7] * 100) == data


@pytest.mark.parametrize("before", [0, MAX_LINE - 20, MAX_LINE, MAX_LINE + 3000])
@pytest.mark.parametrize("fill", [b"x", b"x "])
def test_a_secret_in_a_line_of_any_length_is_removed(before, fill):
    secret = b"aB3dE5gH7jK9mN1pQ2rS"
    data = (fill * before)[:before] + b" api_key=" + secret + b" " + fill * MAX_LINE
    output = streamed(data, [65536] * 20)

    assert secret not in output
    assert secret[:12] not in output
    assert len(output) == len(data) - len(secret) + len(b"(redacted)")


def test_a_secret_longer_than_any_buffer_is_removed():
    data = b"token=" + b"a1B2" * MAX_LINE + b" after\n"
    assert b"a1B2" not in streamed(data, [65536] * 40)
    assert streamed(data, [65536] * 40).endswith(b" after\n")


def test_a_known_value_is_removed_in_every_spelling():
    redactor = Redactor(["correct horse/1"])
    text = b"correct horse/1 correct%20horse%2F1 correct+horse%2F1 Y29ycmVjdCBob3JzZS8x\n"
    assert streamed(text, [5] * 30, redactor).split() == [b"(redacted)"] * 4


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(output_file, "HEAD_BYTES", 1000)
    monkeypatch.setattr(output_file, "TAIL_BYTES", 1000)


def written(tmp_path, data: bytes, size: int) -> tuple[bytes, int]:
    output = OutputFile(tmp_path / "output.txt", Redactor())
    for position in range(0, len(data), size):
        output.write(data[position : position + size])
    output.close()
    output.close()
    return (tmp_path / "output.txt").read_bytes(), output.left_out


@pytest.mark.parametrize("size", [7, 64, 5000])
@pytest.mark.parametrize("length", [0, 1, 999, 1000, 1001, 1999, 2000])
def test_output_up_to_the_limit_is_complete(small, tmp_path, length, size):
    data = bytes(random.Random(1).choices(b"abc\n", k=length))
    assert written(tmp_path, data, size) == (data, 0)


@pytest.mark.parametrize("size", [7, 64, 5000])
@pytest.mark.parametrize("length", [2001, 3500, 50_000])
def test_of_more_output_the_first_and_last_part_are_kept(small, tmp_path, length, size):
    data = bytes(random.Random(1).choices(b"abc\n", k=length))
    text, left_out = written(tmp_path, data, size)

    assert left_out == length - 2000
    note = f"\n[rocm3d: {left_out} bytes of output are left out here: only the first and last are stored]\n"
    assert text == data[:1000] + note.encode() + data[-1000:]


def test_the_head_is_in_the_file_while_the_program_runs(tmp_path):
    output = OutputFile(tmp_path / "output.txt", Redactor())
    output.write(b"one\ntoken=aB3dE5gH")
    assert (tmp_path / "output.txt").read_bytes() == b"one\n"
    output.write(b"7jK9\ntwo\n")
    assert (tmp_path / "output.txt").read_bytes() == b"one\ntoken=(redacted)\ntwo\n"
    output.close()


def test_memory_is_bounded(small, tmp_path):
    output = OutputFile(tmp_path / "output.txt", Redactor())
    for _ in range(40_000):
        output.write(b"x" * 99 + b"\n")
        assert output._tail_bytes <= 1000 + MAX_LINE + 2 * 65536
    assert len(output._tail) < 10
    output.close()
    assert (tmp_path / "output.txt").stat().st_size < 2200


SECRET = "aB3dE5gH7jK9mN1pQ2rS"
KEY = "\n".join(["-----BEGIN PRIVATE KEY-----", *[SECRET * 3] * 30, "-----END PRIVATE KEY-----"])


@pytest.mark.parametrize("text", [f"api_key={SECRET}\n", KEY + "\n", f"ghp_{SECRET}{SECRET} "])
@pytest.mark.parametrize("fill", ["some words\n", "some words "])
def test_no_part_of_a_secret_is_at_the_border_of_head_or_tail(small, tmp_path, monkeypatch, text, fill):
    """The secret stands at every place around the end of the head and the beginning of the tail."""
    monkeypatch.setattr(output_file, "_CONTEXT", 5000)
    monkeypatch.setattr(output_file, "_BLOCK", 100)
    before = fill * 800
    for where in range(0, 1200 + len(text), 23):
        after = (fill * 500)[:where]
        for data in (after + " " + text + before, before + text + after):
            output, _ = written(tmp_path, data.encode(), 777)
            assert not any(SECRET[start : start + 8].encode() in output for start in range(12)), where


def test_a_word_longer_than_any_buffer_is_not_in_the_tail(small, tmp_path):
    """Its beginning was dropped, so nobody knows what it is."""
    output, _ = written(tmp_path, b"x\n" * 1000 + b"token=" + b"a1B2" * 200_000, 65536)
    assert b"a1B2" not in output
