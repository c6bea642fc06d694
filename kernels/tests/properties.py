"""hypothesis for the tests; if it is not installed, its tests are skipped with a reason."""

from __future__ import annotations

from typing import Any

import pytest

try:
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as some
except ModuleNotFoundError:

    class _Anything:
        """Placeholder for strategies and phases."""

        def __getattr__(self, name: str) -> Any:
            return self

        def __call__(self, *args: Any, **named: Any) -> Any:
            return self

    def given(*_: Any) -> Any:
        def replace(test: Any) -> Any:
            def not_run() -> None:
                """Has no arguments, as there is nothing to draw them."""

            not_run.__name__, not_run.__module__ = test.__name__, test.__module__
            return pytest.mark.skip(reason="needs hypothesis: pip install hypothesis")(not_run)

        return replace

    def settings(**_: Any) -> Any:
        return lambda test: test

    Phase, some = _Anything(), _Anything()
else:
    settings.register_profile(
        "ci", max_examples=20, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
    )
    settings.load_profile("ci")

__all__ = ["Phase", "given", "settings", "some"]
