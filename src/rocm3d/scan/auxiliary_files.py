"""Auxiliary files of a repository: tests, documentation, examples, benchmarks.

Every rule scans them like other files, but their findings are notes: a port is about what is installed and run.
Vendored code (third_party, submodules) is built with the program and is not auxiliary.
"""

from __future__ import annotations

import re

_AUXILIARY = re.compile(
    r"(?:^|/)(?:tests?|testing|docs?|documentation|examples?|samples?|tutorials?|notebooks?|benchmarks?)/"
    r"|(?:^|/)(?:test_[^/]*|[^/]*_tests?|conftest)\.[^/]+$",
    re.IGNORECASE,
)


def is_auxiliary(path: str) -> bool:
    """Whether a file belongs to tests, documentation, examples or benchmarks, by its path."""
    return _AUXILIARY.search(path) is not None
