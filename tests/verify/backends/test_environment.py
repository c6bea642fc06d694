from __future__ import annotations

from pathlib import Path

from rocm3d.verify.backends.environment import Environment


def test_without_an_interpreter_the_option_is_named():
    assert "--python" in Environment().unavailable_reason


def test_an_environment_with_an_interpreter_is_available():
    environment = Environment.of(Path("/env/bin/python"), Path("/repository"))

    assert (environment.unavailable_reason, environment.device, environment.roots) == (
        "",
        "cuda",
        (Path("/repository"),),
    )
    assert environment.cached_checks is not Environment.of(Path("/env/bin/python")).cached_checks
