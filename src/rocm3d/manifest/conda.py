"""conda environments (environment*.yml, conda*.yml): channels, conda dependencies and their pip section."""

from __future__ import annotations

import re
from dataclasses import replace

from rocm3d.manifest.install_line import Word, installation
from rocm3d.manifest.manifest import Manifest, Mention, Option, Reader, pure
from rocm3d.manifest.script import one_mention
from rocm3d.manifest.yaml_nodes import Scalar, YamlText

_NAME = re.compile(r"(environment|conda|env)([._-].*)?\.ya?ml$|.*[._-](environment|env|conda)\.ya?ml$", re.IGNORECASE)


def is_environment(path: str) -> bool:
    return bool(_NAME.match(pure(path).name))


def read(path: str, data: bytes) -> Manifest:
    """Read the top-level lists `channels` and `dependencies`; other YAML files have neither."""
    yaml = YamlText(data.decode("utf-8", "replace"))
    if yaml.problem:
        return Manifest(path, reader.kind, data, unread=((1, yaml.problem),))
    mentions: list[Mention] = []
    options: list[Option] = []
    for key, value in yaml.pairs(yaml.root):
        for item in yaml.items(value):
            entry = yaml.scalar(item)
            if key.text == "channels" and entry is not None and entry.text:
                options.append(Option((entry.text,), (), entry.line, entry.column, entry.line))
            elif key.text == "dependencies" and entry is not None:
                mentions += _conda(entry)
            elif key.text == "dependencies":
                named, given = _pip(yaml, item)
                mentions += named
                options += given
    return Manifest(path, reader.kind, data, tuple(mentions), tuple(options))


def _conda(entry: Scalar) -> list[Mention]:
    column = entry.column + (entry.style in ("'", '"'))
    spec = re.sub(r"\s+", "", entry.text)
    found = installation([Word("conda"), Word("install"), Word(spec, entry.line, column, entry.line)])
    return [] if found is None else [replace(item, text=entry.text) for item in found.mentions]


def _pip(yaml: YamlText, node: object) -> tuple[list[Mention], list[Option]]:
    mentions: list[Mention] = []
    options: list[Option] = []
    for key, value in yaml.pairs(node):
        entries = [yaml.scalar(item) for item in yaml.items(value)] if key.text == "pip" else []
        for entry in entries:
            if entry is not None:
                column = entry.column + (entry.style in ("'", '"'))
                named, given = one_mention(entry.text, entry.line, column, "pip")
                mentions += named
                options += given
    return mentions, options


reader = Reader(__name__, is_environment, read)
