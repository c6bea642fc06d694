"""GitHub workflows: install commands of their `run` steps."""

from __future__ import annotations

from rocm3d.manifest.install_line import shell_commands
from rocm3d.manifest.manifest import ManifestReader, ParsedManifest, posix_path
from rocm3d.manifest.script import manifest_from_commands
from rocm3d.manifest.yaml_nodes import YamlText

SECTION = "workflow"


def is_workflow(path: str) -> bool:
    parts = posix_path(path)
    return parts.suffix in (".yml", ".yaml") and ".github" in parts.parts[:-1]


def _parse(path: str, data: bytes) -> ParsedManifest:
    """Read the value of every `run` key."""
    yaml = YamlText(data.decode("utf-8", "replace"))
    scripts = [value for key, node in yaml.walk() if key.text == "run" and (value := yaml.scalar(node)) is not None]
    scripts.sort(key=lambda scalar: scalar.start)
    commands = (command for script in scripts for command in shell_commands(*yaml.script(script)))
    return manifest_from_commands(path, reader.kind, data, commands, section=SECTION)


reader = ManifestReader(__name__, is_workflow, _parse)
