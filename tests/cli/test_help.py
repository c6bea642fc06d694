from __future__ import annotations

from rocm3d.cli.help import help_texts
from rocm3d.cli.main import build


def test_every_command_has_its_help_text():
    texts = help_texts(build())

    assert {"rocm3d", "rocm3d scan", "rocm3d kb check", "rocm3d skill"} <= set(texts)
    for name, text in texts.items():
        assert text.startswith(f"Usage: {name} ")
