"""GitHub workflows: install commands of their `run` steps."""

from __future__ import annotations

from collections.abc import Iterator

from rocm3d.manifest.install_line import ShellWord, shell_commands
from rocm3d.manifest.manifest import ManifestReader, ParsedManifest, posix_path
from rocm3d.manifest.script import manifest_from_commands
from rocm3d.manifest.yaml_nodes import YamlText

SECTION = "workflow"


def is_workflow(path: str) -> bool:
    parts = posix_path(path)
    return parts.suffix in (".yml", ".yaml") and ".github" in parts.parts[:-1]


def read(path: str, data: bytes) -> ParsedManifest:
    """Read the value of every `run` key."""
    yaml = YamlText(data.decode("utf-8", "replace"))
    if yaml.problem:
        return ParsedManifest(path, reader.kind, data, unread=((1, yaml.problem),))
    return manifest_from_commands(path, reader.kind, data, _commands(yaml), section=SECTION)


def _commands(yaml: YamlText) -> Iterator[tuple[ShellWord, ...]]:
    scripts = [value for key, node in yaml.walk() if key.text == "run" and (value := yaml.scalar(node)) is not None]
    for script in sorted(scripts, key=lambda scalar: scalar.start):
        yield from shell_commands(*yaml.script(script))


reader = ManifestReader(__name__, is_workflow, read)
