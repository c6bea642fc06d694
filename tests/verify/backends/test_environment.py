from __future__ import annotations

from pathlib import Path

from rocm3d.verify.backends.environment import Environment


def test_one_that_nobody_named_says_what_to_name():
    assert "--python" in Environment().lacks


def test_one_that_was_named_lacks_nothing():
    environment = Environment.of(Path("/env/bin/python"), Path("/repository"))

    assert (environment.lacks, environment.device, environment.roots) == ("", "cuda", (Path("/repository"),))
    assert environment.answers is not Environment.of(Path("/env/bin/python")).answers
