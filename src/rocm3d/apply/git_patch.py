"""Git diffs: one per file, and a patch with a message for `git apply` or `git am`.

The format follows git's documentation, gitformat-patch and diff-generate-patch (https://git-scm.com/docs). Everything
is bytes, since a source file need not be UTF-8.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from itertools import pairwise

from rocm3d import __version__

_CRLF_LINE = re.compile(rb"^[ +-][^\n]*\r\n", re.MULTILINE)
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_NO_NEWLINE = b"\\ No newline at end of file\n"
# Goes below the line of dashes: git ignores the text between it and the first diff.
_CRLF_NOTE = (
    "Lines of some files end in CRLF. `git apply` takes this patch as it is; `git am` wants --keep-cr, but not where\n"
    "attributes of git convert line ends.\n"
)
_DIFF_START = re.compile(rb"^diff --git ", re.MULTILINE)
# The last two lines of a mail. No line of a diff begins with these characters.
_SIGNATURE = re.compile(rb"\n-- \n[^ +\-\\@\n][^\n]*\n*\Z")
_ESCAPED = re.compile(rb'\\(?:[tnr"\\]|[0-7]{3})')
_SPECIAL = re.compile(r'[\x00-\x1f"\\\x7f]')
_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def file_diff(path: str, before: bytes | None, after: bytes) -> bytes:
    """The diff of one file; `before` is None for a new file. File modes do not change; a new file gets 0644."""
    old, new = _quoted_path(f"a/{path}"), _quoted_path(f"b/{path}")
    head = b"diff --git %s %s\n" % (old, new) + (b"new file mode 100644\n" if before is None else b"")
    # git ends names that contain a space with a tab, because other programs read the text after a space as a date.
    source = b"/dev/null" if before is None else _with_trailing_tab(old)
    lines = difflib.diff_bytes(
        difflib.unified_diff,
        _split_lines(before or b""),
        _split_lines(after),
        source,
        _with_trailing_tab(new),
        lineterm=b"\n",
    )
    return head + b"".join(line if line.endswith(b"\n") else line + b"\n" + _NO_NEWLINE for line in lines)


def apply_diff(before: bytes, diff: bytes) -> bytes:
    """Apply a diff made by `file_diff` to the bytes that it was made for."""
    lines, out, position = _split_lines(before), [], 0
    diff_lines = iter(_diff_lines(diff))
    for line in diff_lines:
        match = _HUNK.match(line)
        if match is None:
            continue
        first, old, new = int(match[1]), int(match[2] or 1), int(match[3] or 1)
        start = first - 1 if old else first
        out += lines[position:start]
        position = start + old
        # Count lines instead of matching them: a line of the file may look like a hunk header.
        while old > 0 or new > 0:
            kind, text = (line := next(diff_lines))[:1], line[1:]
            old, new = old - (kind in b" -"), new - (kind in b" +")
            out += [text] if kind in b" +" else []
    return b"".join([*out, *lines[position:]])


def extract_diff(path: str, patch: bytes) -> bytes | None:
    """The diff of one file in a patch made by `mail_patch`; None if the patch does not change the file."""
    start = b"\ndiff --git %s %s\n" % (_quoted_path(f"a/{path}"), _quoted_path(f"b/{path}"))
    _, header, tail = patch.partition(start)
    return header[1:] + tail.partition(b"\ndiff --git ")[0] + b"\n" if header else None


def split_by_file(patch: bytes) -> dict[str, bytes]:
    """The diff of each file by path, without message and signature. Accepts patches made by other tools."""
    body = _SIGNATURE.sub(b"\n", patch)
    starts = [*(match.start() for match in _DIFF_START.finditer(body)), len(body)]
    return {_diff_path(diff := body[start:end]): diff for start, end in pairwise(starts)}


def mail_patch(subject: str, text: str, diffs: Iterable[bytes]) -> bytes:
    """A patch with a commit message. `git am` requires a sender; without a date it uses the current time."""
    body = b"".join(diffs)
    head = (
        "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n"
        "From: rocm3d <rocm3d@localhost.invalid>\n"
        f"Subject: [PATCH] {subject}\n"
        "Content-Type: text/plain; charset=UTF-8\n"
        "Content-Transfer-Encoding: 8bit\n"
        f"\n{text.rstrip()}\n---\n{_CRLF_NOTE if _CRLF_LINE.search(body) else ''}\n"
    )
    return head.encode() + body + f"-- \nrocm3d {__version__}\n\n".encode()


def _diff_path(diff: bytes) -> str:
    names = diff.partition(b"\n")[0].removeprefix(b"diff --git ")
    # Both names are equal, so split the line in the middle: a name may itself contain ` b/`.
    half = len(names) // 2
    name = names[half + 1 :] if names[half : half + 1] == b" " else names.rpartition(b" ")[2]
    if name.startswith(b'"'):
        name = _ESCAPED.sub(_unescaped, name[1:-1])
    return name.removeprefix(b"b/").decode("utf-8", "surrogateescape")


def _unescaped(match: re.Match[bytes]) -> bytes:
    escape = match.group()
    named = {text.encode(): raw.encode() for raw, text in _ESCAPES.items()}
    return named.get(escape) or bytes([int(escape[1:], 8) & 0xFF])


def _diff_lines(diff: bytes) -> list[bytes]:
    """The lines of a diff. A last line of a file without a newline has none here either."""
    lines: list[bytes] = []
    for line in _split_lines(diff):
        if line == _NO_NEWLINE:
            lines[-1] = lines[-1][:-1]
        else:
            lines.append(line)
    return lines


def _split_lines(data: bytes) -> list[bytes]:
    """Lines as git counts them: only a newline ends a line; CR and form feeds are part of it."""
    *complete, last = data.split(b"\n")
    return [*(line + b"\n" for line in complete), *([last] if last else [])]


def _quoted_path(path: str) -> bytes:
    """The path as git writes it: quoted only if it contains a control character, a quote or a backslash."""
    if not _SPECIAL.search(path):
        return path.encode("utf-8", "surrogateescape")
    quoted = _SPECIAL.sub(lambda match: _ESCAPES.get(match.group(), f"\\{ord(match.group()):03o}"), path)
    return b'"%s"' % quoted.encode("utf-8", "surrogateescape")


def _with_trailing_tab(name: bytes) -> bytes:
    return name + b"\t" if b" " in name else name
