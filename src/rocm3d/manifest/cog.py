"""cog.yaml of Replicate's Cog: packages, requirements file and commands of the image it builds. Nothing is run.

Format: https://github.com/replicate/cog/blob/main/docs/yaml.md
"""

from __future__ import annotations

from typing import Any

from rocm3d.manifest.install_line import shell_commands
from rocm3d.manifest.manifest import Manifest, Mention, Option, Reader, pure
from rocm3d.manifest.script import Script, one_mention
from rocm3d.manifest.yaml_nodes import Scalar, YamlText

SECTION = "cog"


def is_cog(path: str) -> bool:
    return pure(path).name in ("cog.yaml", "cog.yml")


def read(path: str, data: bytes) -> Manifest:
    """Read the top-level `build` table, the only one that installs anything."""
    yaml = YamlText(data.decode("utf-8", "replace"))
    if yaml.problem:
        return Manifest(path, reader.kind, data, unread=((1, yaml.problem),))
    mentions: list[Mention] = []
    options: list[Option] = []
    script = Script()
    for key, value in _build(yaml):
        entry = yaml.scalar(value)
        if key.text == "python_requirements" and entry is not None and entry.text:
            options.append(Option((), (entry.text,), entry.line, entry.column, entry.line))
        elif key.text == "python_packages":
            for item in _texts(yaml, value):
                column = item.column + (item.style in ("'", '"'))
                named, given = one_mention(item.text, item.line, column, SECTION)
                mentions += named
                options += given
        elif key.text in ("run", "pre_install"):
            for item in _texts(yaml, value):
                for words in shell_commands(*yaml.script(item)):
                    script.take(words)
    mentions += script.mentions
    return Manifest(
        path, reader.kind, data, tuple(mentions), (*options, *script.options), commands=tuple(script.commands),
        submodules=tuple(script.submodules),
    )  # fmt: skip


def _build(yaml: YamlText) -> list[tuple[Scalar, Any]]:
    return [pair for key, value in yaml.pairs(yaml.root) if key.text == "build" for pair in yaml.pairs(value)]


def _texts(yaml: YamlText, node: Any) -> list[Scalar]:
    """The scalar entries of a list, and the `command` of entries that are maps."""
    found = []
    for item in yaml.items(node):
        inside = [value for key, value in yaml.pairs(item) if key.text == "command"]
        found += [entry for value in (inside or [item]) if (entry := yaml.scalar(value)) is not None]
    return found


reader = Reader(__name__, is_cog, read)
