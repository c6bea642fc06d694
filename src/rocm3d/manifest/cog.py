"""cog.yaml of Replicate's Cog: packages, requirements file and commands of the image it builds. Nothing is run.

Format: https://github.com/replicate/cog/blob/main/docs/yaml.md
"""

from __future__ import annotations

from typing import Any

from rocm3d.manifest.install_line import shell_commands
from rocm3d.manifest.manifest import InstallOption, ManifestReader, ParsedManifest, posix_path
from rocm3d.manifest.script import ManifestBuilder
from rocm3d.manifest.yaml_nodes import YamlScalar, YamlText

SECTION = "cog"


def is_cog(path: str) -> bool:
    return posix_path(path).name in ("cog.yaml", "cog.yml")


def _parse(path: str, data: bytes) -> ParsedManifest:
    """Read the top-level `build` table, the only one that installs anything."""
    yaml, builder, script = YamlText(data.decode("utf-8", "replace")), ManifestBuilder(), ManifestBuilder()
    for key, value in _build_entries(yaml):
        entry = yaml.scalar(value)
        if key.text == "python_requirements" and entry is not None and entry.text:
            builder.options.append(InstallOption((), (entry.text,), entry.line, entry.column, entry.line))
        elif key.text == "python_packages":
            for scalar in _scalar_entries(yaml, value):
                builder.add_requirement(scalar.text, scalar.line, scalar.text_column, SECTION)
        elif key.text in ("run", "pre_install"):
            for scalar in _scalar_entries(yaml, value):
                script.add_commands(shell_commands(*yaml.script(scalar)))
    script.mentions, script.options = builder.mentions + script.mentions, builder.options + script.options
    return script.manifest(path, reader.kind, data)


def _build_entries(yaml: YamlText) -> list[tuple[YamlScalar, Any]]:
    return [pair for key, value in yaml.pairs(yaml.root) if key.text == "build" for pair in yaml.pairs(value)]


def _scalar_entries(yaml: YamlText, node: Any) -> list[YamlScalar]:
    """The scalar entries of a list, and the `command` of entries that are maps."""
    scalars = []
    for element in yaml.items(node):
        commands = [value for key, value in yaml.pairs(element) if key.text == "command"]
        scalars += [entry for value in (commands or [element]) if (entry := yaml.scalar(value)) is not None]
    return scalars


reader = ManifestReader(__name__, is_cog, _parse)
read = reader.read
