"""The indexes that a manifest names, each with the distributions that may come from it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rocm3d.manifest.manifest import IndexScope, InstallOption, Mention, ParsedManifest

_NAMED = re.compile(r"^[\w.-]+=(?=\w+://)")  # `--index name=URL` of uv
_HASH = re.compile(r"\s--hash[= ]")


@dataclass(frozen=True)
class IndexUse:
    """One index. `names` are those of its command or its own entries; with scope `file` or `environment` all count.

    `files` are the requirements files of its command. `links`: a page or folder of files, as for --find-links.
    """

    url: str
    line: int
    column: int
    scope: IndexScope
    names: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    links: bool = False
    channel: bool = False


def index_uses(manifest: ParsedManifest, is_public: Callable[[str], bool]) -> Iterator[IndexUse]:
    """Uses of indexes that are not public. An index that only a mention names is a use of its own."""
    options = [(plain_url(url), option) for option in manifest.options for url in option.urls]
    named = {option.name: url for url, option in options if option.name}
    for url, option in options:
        if not is_public(url):
            mentions = [item for item in manifest.mentions if url in _urls(item, named)]
            yield IndexUse(
                url,
                option.line,
                option.column,
                option.scope,
                tuple(dict.fromkeys(item.name for item in mentions if is_from_index(item))),
                _files(manifest, option),
                option.links,
                option.channel,
            )
    listed = {url for url, _ in options}
    for mention in manifest.mentions:
        for url in _urls(mention, named):
            if url not in listed and is_from_index(mention) and not is_public(url):
                channel = mention.section.endswith("conda")
                yield IndexUse(url, mention.line, mention.column, "named", (mention.name,), channel=channel)


def plain_url(text: str) -> str:
    """The URL of an index without the name that uv accepts before it."""
    return _NAMED.sub("", text, count=1)


def is_from_index(mention: Mention) -> bool:
    """Whether an index provides it: it has no URL, and no hash that identifies its file."""
    return bool(mention.name) and not mention.url and _HASH.search(mention.text) is None


def _urls(mention: Mention, named: dict[str, str]) -> tuple[str, ...]:
    """`pypi` is the default index for poetry, pipenv and conda, unless the file gives the name to another."""
    urls = (named.get(text, plain_url(text)) for text in mention.indexes)
    return tuple(url for url in urls if url.lower() != "pypi")


def _files(manifest: ParsedManifest, option: InstallOption) -> tuple[str, ...]:
    """Requirements files of the same command, for a command; those of all commands, for a variable."""
    if option.scope == "command":
        return tuple(
            name
            for other in manifest.options
            if other.scope == "command" and other.indexes == option.indexes
            for name in other.includes
        )
    return ()
