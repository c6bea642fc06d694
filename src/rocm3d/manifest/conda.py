"""conda environments (environment*.yml, conda*.yml): channels, conda dependencies and their pip section."""

from __future__ import annotations

import re
from dataclasses import replace

from rocm3d.manifest.install_line import ShellWord, parse_install_command
from rocm3d.manifest.manifest import InstallOption, ManifestReader, Mention, ParsedManifest, posix_path
from rocm3d.manifest.script import parse_requirement_entry
from rocm3d.manifest.yaml_nodes import YamlScalar, YamlText

_NAME = re.compile(r"(environment|conda|env)([._-].*)?\.ya?ml$|.*[._-](environment|env|conda)\.ya?ml$", re.IGNORECASE)


def is_conda_environment(path: str) -> bool:
    return bool(_NAME.match(posix_path(path).name))


def read(path: str, data: bytes) -> ParsedManifest:
    """Read the top-level lists `channels` and `dependencies`; other YAML files have neither."""
    yaml = YamlText(data.decode("utf-8", "replace"))
    if yaml.problem:
        return ParsedManifest(path, reader.kind, data, unread=((1, yaml.problem),))
    mentions: list[Mention] = []
    options: list[InstallOption] = []
    for key, value in yaml.pairs(yaml.root):
        for node in yaml.items(value):
            entry = yaml.scalar(node)
            if key.text == "channels" and entry is not None and entry.text:
                options.append(InstallOption((entry.text,), (), entry.line, entry.column, entry.line))
            elif key.text == "dependencies" and entry is not None:
                mentions += _conda_mentions(entry)
            elif key.text == "dependencies":
                pip_mentions, pip_options = _pip_entries(yaml, node)
                mentions += pip_mentions
                options += pip_options
    return ParsedManifest(path, reader.kind, data, tuple(mentions), tuple(options))


def _conda_mentions(entry: YamlScalar) -> list[Mention]:
    column = entry.column + (entry.style in ("'", '"'))
    spec = re.sub(r"\s+", "", entry.text)
    install = parse_install_command(
        [ShellWord("conda"), ShellWord("install"), ShellWord(spec, entry.line, column, entry.line)]
    )
    return [] if install is None else [replace(mention, text=entry.text) for mention in install.mentions]


def _pip_entries(yaml: YamlText, node: object) -> tuple[list[Mention], list[InstallOption]]:
    mentions: list[Mention] = []
    options: list[InstallOption] = []
    for key, value in yaml.pairs(node):
        entries = [yaml.scalar(element) for element in yaml.items(value)] if key.text == "pip" else []
        for entry in entries:
            if entry is not None:
                column = entry.column + (entry.style in ("'", '"'))
                entry_mentions, entry_options = parse_requirement_entry(entry.text, entry.line, column, "pip")
                mentions += entry_mentions
                options += entry_options
    return mentions, options


reader = ManifestReader(__name__, is_conda_environment, read)
