"""Saves the output of a program without its secrets: the first and the last part, so that the file stays small.

The file never contains a secret, not even for a moment: output is redacted before it is written, in complete lines,
because a secret may arrive in two parts.
"""

from __future__ import annotations

import re
from collections import deque
from pathlib import Path

from rocm3d.record.redact import Redactor
from rocm3d.record.secret_spans import HIDDEN, MAX_SECRET, opens_private_key

HEAD_BYTES = TAIL_BYTES = 4 * 1024 * 1024
# A line without an end is redacted when it is longer than this.
MAX_LINE = 256 * 1024
# The end of such a line is held back: a secret may continue in the next chunk.
_HELD_BACK = 2 * MAX_SECRET
# The name of a secret stands before it.
_NAME_BEFORE = 256
_BLOCK = 64 * 1024
# Searched before the tail: a private key or a line may begin there.
_CONTEXT = MAX_LINE
_VALUE_END = re.compile(rb"[\s\"'`]")


class RedactedStream:
    """Output arrives in chunks of any size, and leaves without secrets."""

    def __init__(self, redactor: Redactor) -> None:
        self.redactor, self._pending = redactor, b""
        self.is_open, self.is_in_long_secret = True, False

    def feed(self, chunk: bytes) -> bytes:
        """The redacted part of the output so far that is complete."""
        if self.is_in_long_secret:
            chunk = self._after_long_secret(chunk)
        self._pending += chunk
        end = max(self._pending.rfind(b"\n"), self._pending.rfind(b"\r")) + 1
        key = opens_private_key(self._pending[:end])
        if key >= 0 and len(self._pending) - key <= MAX_LINE:
            end = self._pending.rfind(b"\n", 0, key) + 1
        if not end and len(self._pending) > MAX_LINE:
            return self._cut_line()
        complete, self._pending = self._pending[:end], self._pending[end:]
        return self.redactor.data(complete)

    def finish(self) -> bytes:
        """The redacted rest."""
        return self.redactor.data(self.release())

    def release(self) -> bytes:
        """The rest as it came; nothing is added from now on."""
        rest, self._pending, self.is_open = self._pending, b"", False
        return rest

    def _cut_line(self) -> bytes:
        """The beginning of a long line. It ends before any secret that may continue."""
        cut = len(self._pending) - _HELD_BACK
        for span in reversed(self.redactor.find(self._pending)):
            if span.start - _NAME_BEFORE < cut < span.end:
                cut = max(0, span.start - _NAME_BEFORE)
        if cut:
            complete, self._pending = self._pending[:cut], self._pending[cut:]
            return self.redactor.data(complete)
        self._pending, self.is_in_long_secret = b"", True
        return HIDDEN

    def _after_long_secret(self, chunk: bytes) -> bytes:
        end = _VALUE_END.search(chunk)
        self.is_in_long_secret = end is None
        return chunk[end.start() :] if end else b""


class OutputFile:
    """A file with the first HEAD_BYTES and the last TAIL_BYTES of the redacted output, and a line between them.

    The head is written at once. What follows stays in memory, as it came and no longer than needed, and is redacted by
    `close`: most of a long output is dropped, and need not be searched.
    """

    def __init__(self, path: Path, redactor: Redactor) -> None:
        self.file, self.stream = path.open("wb"), RedactedStream(redactor)
        self.left_out = 0
        self._head_left = HEAD_BYTES
        self._tail, self._tail_bytes = deque[bytearray](), 0

    def write(self, chunk: bytes) -> None:
        """Add output."""
        if self.stream.is_open:
            self._add(self.stream.feed(chunk))
            if self._head_left <= 0 and not self.stream.is_in_long_secret:
                self._append(self.stream.release())
        else:
            self._append(chunk)

    def close(self) -> None:
        """Write the rest."""
        if self.file.closed:
            return
        with self.file:
            if self.stream.is_open:
                self._add(self.stream.finish())
            tail = self.stream.redactor.data(self._whole_lines())
            self.left_out += max(0, len(tail) - TAIL_BYTES)
            if self.left_out:
                note = f"{self.left_out} bytes of output are left out here: only the first and last are stored"
                self.file.write(f"\n[rocm3d: {note}]\n".encode())
            self.file.write(tail[-TAIL_BYTES:])
            self._tail.clear()

    def _add(self, data: bytes) -> None:
        """Add redacted output."""
        head, rest = data[: self._head_left], data[self._head_left :]
        if head:
            self._head_left -= len(head)
            self.file.write(head)
            self.file.flush()
        self._append(rest)

    def _append(self, data: bytes) -> None:
        """Add to the tail, and drop what is too old. Few large blocks, although chunks may be small."""
        if not data:
            return
        if not self._tail or len(self._tail[-1]) >= _BLOCK:
            self._tail.append(bytearray())
        self._tail[-1] += data
        self._tail_bytes += len(data)
        while self._tail_bytes - len(self._tail[0]) >= TAIL_BYTES + _CONTEXT:
            dropped = len(self._tail.popleft())
            self.left_out += dropped
            self._tail_bytes -= dropped

    def _whole_lines(self) -> bytes:
        """The tail. If its beginning was dropped, it starts with a line, or at least with a word."""
        tail = b"".join(self._tail)
        if not self.left_out:
            return tail
        line = tail.find(b"\n", 0, _CONTEXT) + 1
        word = _VALUE_END.search(tail, _CONTEXT)
        start = line or (word.end() if word else len(tail))
        self.left_out += start
        return tail[start:]
