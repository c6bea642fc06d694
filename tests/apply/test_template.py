from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError
from ruamel.yaml import YAML

from rocm3d.apply.template import _environment, docker_value, one_line, render


def test_a_template_without_its_values_is_an_error():
    with pytest.raises((UndefinedError, TypeError)):
        render("Dockerfile")


@given(st.text())
def test_nothing_ends_the_line_of_a_comment(text):
    assert len(one_line(text).splitlines()) <= 1
    one_line(text).encode()


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126)))
def test_yaml_reads_back_what_was_written_and_compose_fills_nothing_in(text):
    written = _environment().filters["yaml"](text)
    assert YAML(typ="safe").load(written).replace("$$", "$") == text


@pytest.mark.parametrize("text", ["a b", "$HOME", 'say "x"', "back\\slash", "it's"])
def test_docker_values_stand_for_themselves(text):
    """Double quotes mean the same to Docker as to a shell, as far as these characters go."""
    command = ["sh", "-c", f"printf %s {docker_value(text)}"]
    assert subprocess.run(command, capture_output=True, check=True).stdout.decode() == text
