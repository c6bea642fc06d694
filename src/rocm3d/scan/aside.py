"""Which files of a repository stand beside its program: tests, documentation, examples, benchmarks.

One policy for every rule: they are read like the rest, and what is found there is a note. They follow the program, and
a port is about what is installed and run. Folders of other people's code (third_party, submodules) are built with the
rest, so they are no such place.
"""

from __future__ import annotations

import re

_ASIDE = re.compile(
    r"(?:^|/)(?:tests?|testing|docs?|documentation|examples?|samples?|tutorials?|notebooks?|benchmarks?)/"
    r"|(?:^|/)(?:test_[^/]*|[^/]*_tests?|conftest)\.[^/]+$",
    re.IGNORECASE,
)


def is_aside(path: str) -> bool:
    """Whether a file is no part of the program itself."""
    return _ASIDE.search(path) is not None
