"""Saves the output of a program without its secrets: the first and the last part, so that the file stays small.

The file never contains a secret, not even for a moment: output is redacted before it is written. Only complete lines
are, because a secret may arrive in two parts.
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
_VALUE_END = re.compile(rb"[\s\"'`]")


class RedactedStream:
    """Output arrives in chunks of any size, and leaves without secrets."""

    def __init__(self, redactor: Redactor) -> None:
        self.redactor, self._pending, self._in_long_secret = redactor, b"", False

    def feed(self, chunk: bytes) -> bytes:
        """The redacted part of the output so far that is complete."""
        if self._in_long_secret:
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
        rest, self._pending = self._pending, b""
        return self.redactor.data(rest)

    def _cut_line(self) -> bytes:
        """The beginning of a long line. It ends before any secret that may continue."""
        cut = len(self._pending) - _HELD_BACK
        for span in reversed(self.redactor.find(self._pending)):
            if span.start - _NAME_BEFORE < cut < span.end:
                cut = max(0, span.start - _NAME_BEFORE)
        if cut:
            complete, self._pending = self._pending[:cut], self._pending[cut:]
            return self.redactor.data(complete)
        self._pending, self._in_long_secret = b"", True
        return HIDDEN

    def _after_long_secret(self, chunk: bytes) -> bytes:
        end = _VALUE_END.search(chunk)
        self._in_long_secret = end is None
        return chunk[end.start() :] if end else b""


class OutputFile:
    """A file with the first HEAD_BYTES and the last TAIL_BYTES of the redacted output, and a line between them."""

    def __init__(self, path: Path, redactor: Redactor) -> None:
        self.file, self.stream = path.open("wb"), RedactedStream(redactor)
        self.left_out = 0
        self._head_left = HEAD_BYTES
        self._tail, self._tail_bytes = deque[bytes](), 0

    def write(self, chunk: bytes) -> None:
        """Add output. The head is written at once, the tail by `close`."""
        self._add(self.stream.feed(chunk))

    def close(self) -> None:
        """Write the rest."""
        if self.file.closed:
            return
        with self.file:
            self._add(self.stream.finish())
            self._trim()
            if self.left_out:
                note = f"[rocm3d: {self.left_out} bytes of output are left out here: only the first and last are kept]"
                self.file.write(b"\n" + note.encode() + b"\n")
            for part in self._tail:
                self.file.write(part)
            self._tail.clear()

    def _add(self, data: bytes) -> None:
        head, rest = data[: self._head_left], data[self._head_left :]
        if head:
            self._head_left -= len(head)
            self.file.write(head)
            self.file.flush()
        if rest:
            self._tail.append(rest)
            self._tail_bytes += len(rest)
            if self._tail_bytes > 2 * TAIL_BYTES:
                self._trim()

    def _trim(self) -> None:
        """Keep the last TAIL_BYTES of the tail."""
        while (excess := self._tail_bytes - TAIL_BYTES) > 0:
            first = self._tail.popleft()
            if len(first) > excess:
                self._tail.appendleft(first[excess:])
            removed = min(len(first), excess)
            self.left_out += removed
            self._tail_bytes -= removed
