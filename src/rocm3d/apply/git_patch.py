"""Changes as git writes them: one diff for each file, and a whole patch for `git apply` or `git am`.

The format is that of git's own documentation, gitformat-patch and diff-generate-patch (https://git-scm.com/docs). It is
made of bytes, since a source file need not be UTF-8.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from itertools import pairwise

from rocm3d import __version__

_IN_CRLF = re.compile(rb"^[ +-][^\n]*\r\n", re.MULTILINE)
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_NO_NEWLINE = b"\\ No newline at end of file\n"
# Below the line of dashes, where git looks for nothing until the first diff.
_CRLF = (
    "Lines of some files end in CRLF. `git apply` takes this patch as it is; `git am` wants --keep-cr, but not where\n"
    "attributes of git convert line ends.\n"
)
_START = re.compile(rb"^diff --git ", re.MULTILINE)
# The last two lines of a mail; a line of a diff begins with none of these.
_SIGNATURE = re.compile(rb"\n-- \n[^ +\-\\@\n][^\n]*\n*\Z")
_ESCAPED = re.compile(rb'\\(?:[tnr"\\]|[0-7]{3})')
_ODD = re.compile(r'[\x00-\x1f"\\\x7f]')
_NAMED = {"\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def file_diff(path: str, before: bytes | None, after: bytes) -> bytes:
    """The change of one file; `before` is None for a new one. Modes stay as they are, and a new file is 0644."""
    old, new = _name(f"a/{path}"), _name(f"b/{path}")
    head = b"diff --git %s %s\n" % (old, new) + (b"new file mode 100644\n" if before is None else b"")
    # Names with a space end in a tab, as git writes them: other programs take what follows a space for a date.
    source = b"/dev/null" if before is None else _ended(old)
    lines = difflib.diff_bytes(
        difflib.unified_diff, _lines(before or b""), _lines(after), source, _ended(new), lineterm=b"\n"
    )
    return head + b"".join(line if line.endswith(b"\n") else line + b"\n" + _NO_NEWLINE for line in lines)


def patched(before: bytes, diff: bytes) -> bytes:
    """What one of our own diffs makes of the bytes that it was made for."""
    lines, out, at = _lines(before), [], 0
    rest = iter(_joined(diff))
    for line in rest:
        match = _HUNK.match(line)
        if match is None:
            continue
        first, old, new = int(match[1]), int(match[2] or 1), int(match[3] or 1)
        start = first - 1 if old else first
        out += lines[at:start]
        at = start + old
        # Counted, since a line of a file can look like anything.
        while old > 0 or new > 0:
            kind, text = (line := next(rest))[:1], line[1:]
            old, new = old - (kind in b" -"), new - (kind in b" +")
            out += [text] if kind in b" +" else []
    return b"".join([*out, *lines[at:]])


def diff_of(path: str, patch: bytes) -> bytes | None:
    """The part of one of our patches that changes a file; None where none does."""
    start = b"\ndiff --git %s %s\n" % (_name(f"a/{path}"), _name(f"b/{path}"))
    _, found, rest = patch.partition(start)
    return found[1:] + rest.partition(b"\ndiff --git ")[0] + b"\n" if found else None


def parts_of(patch: bytes) -> dict[str, bytes]:
    """The diff of each file in a patch, by its path, without message and signature; whoever wrote the patch."""
    body = _SIGNATURE.sub(b"\n", patch)
    starts = [*(found.start() for found in _START.finditer(body)), len(body)]
    return {_path(diff := body[start:end]): diff for start, end in pairwise(starts)}


def mail(subject: str, text: str, diffs: Iterable[bytes]) -> bytes:
    """A patch with its message. `git am` wants a sender; it takes the day from the clock where none is named."""
    body = b"".join(diffs)
    head = (
        "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n"
        "From: rocm3d <rocm3d@localhost.invalid>\n"
        f"Subject: [PATCH] {subject}\n"
        "Content-Type: text/plain; charset=UTF-8\n"
        "Content-Transfer-Encoding: 8bit\n"
        f"\n{text.rstrip()}\n---\n{_CRLF if _IN_CRLF.search(body) else ''}\n"
    )
    return head.encode() + body + f"-- \nrocm3d {__version__}\n\n".encode()


def _path(diff: bytes) -> str:
    """The path that a diff is about."""
    rest = diff.partition(b"\n")[0].removeprefix(b"diff --git ")
    # Both names are the same, so the line falls into two halves: a name may hold ` b/` itself.
    half = len(rest) // 2
    name = rest[half + 1 :] if rest[half : half + 1] == b" " else rest.rpartition(b" ")[2]
    if name.startswith(b'"'):
        name = _ESCAPED.sub(_unescaped, name[1:-1])
    return name.removeprefix(b"b/").decode("utf-8", "surrogateescape")


def _unescaped(found: re.Match[bytes]) -> bytes:
    word = found.group()
    named = {text.encode(): raw.encode() for raw, text in _NAMED.items()}
    return named.get(word) or bytes([int(word[1:], 8) & 0xFF])


def _joined(diff: bytes) -> list[bytes]:
    """The lines of a diff; one that ends its file without a newline has none."""
    lines: list[bytes] = []
    for line in _lines(diff):
        if line == _NO_NEWLINE:
            lines[-1] = lines[-1][:-1]
        else:
            lines.append(line)
    return lines


def _lines(data: bytes) -> list[bytes]:
    """Lines as git sees them: only a newline ends one, so CRLF and form feeds stay inside."""
    *whole, last = data.split(b"\n")
    return [*(line + b"\n" for line in whole), *([last] if last else [])]


def _name(path: str) -> bytes:
    """A path as git writes it: in quotes only where a character of it would end the line or the name."""
    if not _ODD.search(path):
        return path.encode("utf-8", "surrogateescape")
    quoted = _ODD.sub(lambda found: _NAMED.get(found.group(), f"\\{ord(found.group()):03o}"), path)
    return b'"%s"' % quoted.encode("utf-8", "surrogateescape")


def _ended(name: bytes) -> bytes:
    return name + b"\t" if b" " in name else name
