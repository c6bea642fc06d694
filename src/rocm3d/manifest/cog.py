"""cog.yaml of Replicate's Cog: packages, requirements file and commands of the image it builds. Nothing is run.

Format: https://github.com/replicate/cog/blob/main/docs/yaml.md
"""

from __future__ import annotations

from typing import Any

from rocm3d.manifest.install_line import shell_commands
from rocm3d.manifest.manifest import InstallOption, ManifestReader, ParsedManifest, has_name
from rocm3d.manifest.script import ManifestBuilder
from rocm3d.manifest.yaml_nodes import YamlScalar, YamlText

SECTION = "cog"


def _parse(path: str, data: bytes) -> ParsedManifest:
    """Read the top-level `build` table, the only one that installs anything."""
    yaml, builder, script = YamlText(data.decode("utf-8", "replace")), ManifestBuilder(), ManifestBuilder()
    for key, value in (pair for build in yaml.values(yaml.root, "build") for pair in yaml.pairs(build)):
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


def _scalar_entries(yaml: YamlText, node: Any) -> list[YamlScalar]:
    """The scalar entries of a list, and the `command` of entries that are maps."""
    scalars = []
    for element in yaml.items(node):
        commands = yaml.values(element, "command") or [element]
        scalars += [entry for value in commands if (entry := yaml.scalar(value)) is not None]
    return scalars


reader = ManifestReader(__name__, has_name("cog.yaml", "cog.yml"), _parse)
