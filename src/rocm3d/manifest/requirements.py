"""pip requirements files: every requirement with its position, and copies with some lines replaced."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from rocm3d.manifest.manifest import InstallOption, ManifestReader, Mention, ParsedManifest, posix_path
from rocm3d.model.text import Text
from rocm3d.workspace.process import scratch_file

_OTHER_SEPARATORS = re.compile(r"[\v\f\x1c-\x1e\x85\u2028\u2029]")
KIND = "requirements"
_MAX_CHARACTERS = 1_000_000
_MAX_LINES = 5_000  # without comments and blank lines
_MAX_LINE_LENGTH = 20_000  # characters of one line with its continuations, enough for 200 hashes
_BLANKS = re.compile(r"[ \t]{64,}")
_NAME = re.compile(r"(.*[._-])?(requirements|constraints).*\.(txt|in)$", re.IGNORECASE)
_INDEX_OPTIONS = ("index_url", "extra_index_urls", "find_links")


def is_constraints(path: str) -> bool:
    """Whether the file only constrains versions and installs nothing."""
    return PurePosixPath(path).name.lower().startswith("constraint")


def is_requirements(path: str) -> bool:
    parts = posix_path(path)
    return bool(_NAME.match(parts.name)) or (parts.parent.name == "requirements" and parts.suffix in (".txt", ".in"))


def read(path: str, data: bytes) -> ParsedManifest:
    """Parse with pip's grammar. Included files are listed, not read."""
    from pip_requirements_parser import RequirementsFile

    # Python's splitlines also splits at these separators, which would shift the line numbers of the parser.
    limited_text, unread = limit_requirements(_OTHER_SEPARATORS.sub(" ", data.decode("utf-8", "replace")))
    with scratch_file("requirements.txt", limited_text.encode()) as scratch_path:
        try:
            parsed = RequirementsFile.from_file(str(scratch_path), include_nested=False)
        except Exception as error:  # noqa: BLE001  (the parser raises whatever its input makes it raise)
            return ParsedManifest(path, KIND, data, unread=((1, f"{type(error).__name__}: {error}"),))
    lines = data.splitlines()
    return ParsedManifest(
        path=path,
        kind=KIND,
        data=data,
        mentions=tuple(_mention(parsed_line, lines) for parsed_line in parsed.requirements),
        options=tuple(_option(parsed_line, lines) for parsed_line in parsed.options),
        unread=(
            *(
                (parsed_line.line_number or 1, _first_line(parsed_line.error_message))
                for parsed_line in parsed.invalid_lines
            ),
            *unread,
        ),
    )


def limit_requirements(text: str) -> tuple[str, list[tuple[int, str]]]:
    """The text with lines beyond the limits blanked, and (line, reason) for each of them.

    pip's parser takes quadratic time in the length of a line, and almost a millisecond for each line that it rejects.
    """
    if len(text) > _MAX_CHARACTERS:
        return "", [(1, "is too large to be read as a requirements file")]
    retained: list[str] = []
    unread: list[tuple[int, str]] = []
    requirement_count = 0
    for lines in _logical_lines(_BLANKS.sub(" ", text).splitlines(keepends=True)):
        joined = "".join(line.rstrip("\r\n").rstrip("\\") for line in lines)
        requirement_count += bool(joined.strip()) and not joined.lstrip().startswith("#")
        too_long = len(joined) > _MAX_LINE_LENGTH or _BLANKS.search(joined) is not None
        if requirement_count > _MAX_LINES:
            unread.append((len(retained) + 1, f"exceeds the limit of {_MAX_LINES} requirements; the rest was not read"))
            break
        if too_long:
            unread.append((len(retained) + 1, "is too long to be read as a requirement"))
        retained += ["\n"] * len(lines) if too_long else lines
    return "".join(retained), unread


def _logical_lines(lines: list[str]) -> Iterator[list[str]]:
    """Groups of physical lines that form one line with backslash continuations."""
    group: list[str] = []
    for line in lines:
        group.append(line)
        if not line.rstrip("\r\n").endswith("\\"):
            yield group
            group = []
    if group:
        yield group


def copy_with_replacements(requirements: ParsedManifest, replace: Callable[[int], str | None]) -> bytes:
    """The file with some lines replaced.

    `replace` is called with the first line number of each mention, option or unread line; None leaves it unchanged.
    """
    newline = Text(requirements.data).newline
    lines = requirements.data.splitlines(keepends=True)
    last_lines = {mention.line: mention.last_line for mention in requirements.mentions}
    last_lines |= {option.line: option.last_line for option in requirements.options}
    last_lines |= {line: _last_line(lines, line) for line, _ in requirements.unread if line not in last_lines}
    copied: list[bytes] = []
    number = 1
    while number <= len(lines):
        last = max(last_lines.get(number, number), number)
        text = replace(number) if number in last_lines else None
        copied.extend(
            lines[number - 1 : last] if text is None else [part.encode() + newline for part in text.splitlines()]
        )
        number = last + 1
    return b"".join(copied)


def _mention(parsed: object, lines: list[bytes]) -> Mention:
    line = getattr(parsed, "line_number", None) or 1
    link = getattr(parsed, "link", None)
    url = "" if link is None else str(getattr(link, "url", link))
    return Mention(
        name=getattr(parsed, "name", None) or _name_from_url(url),
        text=str(getattr(parsed, "line", "")).strip(),
        version=str(getattr(parsed, "specifier", "") or ""),
        extras=frozenset(getattr(parsed, "extras", None) or ()),
        url=url,
        line=line,
        column=_column(lines, line),
        last_line=_last_line(lines, line),
    )


def _option(parsed: object, lines: list[bytes]) -> InstallOption:
    options: dict[str, object] = getattr(parsed, "options", {})
    line = getattr(parsed, "line_number", None) or 1
    urls = [str(url) for key in _INDEX_OPTIONS for url in _as_list(options.get(key)) if url]
    includes = [str(path) for key in ("requirements", "constraints") for path in _as_list(options.get(key))]
    return InstallOption(
        tuple(urls),
        tuple(includes),
        line,
        _column(lines, line),
        _last_line(lines, line),
        links=bool(options.get("find_links")),
        additional=bool(options.get("extra_index_urls")),
    )


def _as_list(value: object) -> list[object]:
    return list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]


def _name_from_url(url: str) -> str:
    """The distribution that a URL without a name most likely installs: its last path component."""
    tail = url.split("#", maxsplit=1)[0].split("?", maxsplit=1)[0].rstrip("/").rsplit("/", 1)[-1]
    return re.sub(r"(\.git)?(@.*)?$", "", tail).split("-cp3")[0] if tail else ""


def _column(lines: list[bytes], line: int) -> int:
    text = lines[line - 1] if line <= len(lines) else b""
    return len(text) - len(text.lstrip()) + 1


def _last_line(lines: list[bytes], line: int) -> int:
    last = line
    while last < len(lines) and lines[last - 1].rstrip(b"\r\n").endswith(b"\\"):
        last += 1
        if lines[last - 1].lstrip().startswith(b"#"):  # pip ends a continued line at a comment line
            break
    return last


def _first_line(message: str) -> str:
    return message.strip().splitlines()[0] if message.strip() else "is not a requirement"


reader = ManifestReader(__name__, is_requirements, read)
