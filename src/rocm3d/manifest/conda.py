"""conda environments (environment*.yml, conda*.yml): channels, conda dependencies and their pip section."""

from __future__ import annotations

import re
from dataclasses import replace

from rocm3d.manifest.install_line import ShellWord, parse_install_command
from rocm3d.manifest.manifest import InstallOption, ManifestReader, Mention, ParsedManifest, posix_path
from rocm3d.manifest.script import ManifestBuilder
from rocm3d.manifest.yaml_nodes import YamlScalar, YamlText

_NAME = re.compile(r"(environment|conda|env)([._-].*)?\.ya?ml$|.*[._-](environment|env|conda)\.ya?ml$", re.IGNORECASE)


def is_conda_environment(path: str) -> bool:
    return bool(_NAME.match(posix_path(path).name))


def _parse(path: str, data: bytes) -> ParsedManifest:
    """Read the top-level lists `channels` and `dependencies`; other YAML files have neither."""
    yaml, builder = YamlText(data.decode("utf-8", "replace")), ManifestBuilder()
    for key, value in yaml.pairs(yaml.root):
        for node in yaml.items(value):
            entry = yaml.scalar(node)
            if key.text == "channels" and entry is not None and entry.text:
                builder.options.append(
                    InstallOption((entry.text,), (), entry.line, entry.column, entry.line, channel=True)
                )
            elif key.text == "dependencies" and entry is not None:
                builder.mentions += _conda_mentions(entry)
            elif key.text == "dependencies":
                for scalar in (scalar for entries in yaml.values(node, "pip") for scalar in yaml.scalars(entries)):
                    builder.add_requirement(scalar.text, scalar.line, scalar.text_column, "pip")
    return builder.manifest(path, reader.kind, data)


def _conda_mentions(entry: YamlScalar) -> list[Mention]:
    specification = ShellWord(re.sub(r"\s+", "", entry.text), entry.line, entry.text_column, entry.line)
    install = parse_install_command([ShellWord("conda"), ShellWord("install"), specification])
    return [] if install is None else [replace(mention, text=entry.text) for mention in install.mentions]


reader = ManifestReader(__name__, is_conda_environment, _parse)
