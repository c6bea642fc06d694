"""GitHub workflows: install commands of their `run` steps."""

from __future__ import annotations

from collections.abc import Iterator

from rocm3d.manifest.install_line import Word, shell_commands
from rocm3d.manifest.manifest import Manifest, Reader, pure
from rocm3d.manifest.script import manifest_of
from rocm3d.manifest.yaml_nodes import YamlText

SECTION = "workflow"


def is_workflow(path: str) -> bool:
    parts = pure(path)
    return parts.suffix in (".yml", ".yaml") and ".github" in parts.parts[:-1]


def read(path: str, data: bytes) -> Manifest:
    """Read the value of every `run` key."""
    yaml = YamlText(data.decode("utf-8", "replace"))
    if yaml.problem:
        return Manifest(path, reader.kind, data, unread=((1, yaml.problem),))
    return manifest_of(path, reader.kind, data, _commands(yaml), section=SECTION)


def _commands(yaml: YamlText) -> Iterator[tuple[Word, ...]]:
    scripts = [value for key, node in yaml.walk() if key.text == "run" and (value := yaml.scalar(node)) is not None]
    for script in sorted(scripts, key=lambda item: item.start):
        yield from shell_commands(*yaml.script(script))


reader = Reader(__name__, is_workflow, read)
