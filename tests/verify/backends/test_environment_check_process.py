from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rocm3d.verify.backends.environment import BackendCheckRequest, Environment, run_backend_check

FANCY = BackendCheckRequest("fancy", ("fancy_module",), "p")


def test_no_interpreter_is_not_run_with_the_reason(knowledge):
    result = run_backend_check(FANCY, Environment(), knowledge)

    assert (result.outcome, result.reason) == (
        "not_run",
        "no Python environment of the target found. Pass --python path/to/python",
    )


def test_an_interpreter_that_does_not_start_is_not_run(knowledge, tmp_path):
    result = run_backend_check(FANCY, Environment.of(tmp_path / "nobody"), knowledge)

    assert result.outcome == "not_run"
    assert "is not installed" in result.reason


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("kill -SEGV $$", "process killed by SIGSEGV"),
        (
            "echo 'undefined symbol: f' >&2; exit 3",
            "process exited with code 3 and wrote no result: undefined symbol: f",
        ),
        ("echo nonsense", "process exited with code 0 and wrote no result"),
        ('echo \'{"outcome": "splendid"}\'', "process exited with code 0 and wrote no result"),
    ],
)
def test_a_crash_or_invalid_output_is_broken(knowledge, interpreter, lines, reason):
    result = run_backend_check(FANCY, Environment.of(interpreter(lines)), knowledge)

    assert (result.outcome, result.reason, result.package) == ("broken", reason, "fancy")


def test_a_hang_is_broken(knowledge, interpreter):
    environment = replace(Environment.of(interpreter("sleep 60")), seconds=0.5)

    result = run_backend_check(FANCY, environment, knowledge)

    assert result.outcome == "broken"
    assert result.reason.startswith("stopped at the 0.5 s limit")


def test_the_last_line_is_the_result_and_is_cached(knowledge, fixed_response, tmp_path):
    environment = fixed_response(reason="fine")

    first = run_backend_check(FANCY, environment, knowledge)
    environment.interpreter.unlink()

    assert run_backend_check(FANCY, environment, knowledge) is first
    assert (first.outcome, first.reason) == ("accelerated", "fine")


def test_the_request_names_all_that_the_payload_needs(knowledge, fixed_response, tmp_path):
    environment = replace(fixed_response(), roots=(Path("/repository"),), device="cpu")

    run_backend_check(replace(FANCY, env={"A": "1"}), environment, knowledge)

    request = json.loads((tmp_path / "asked.json").read_text())
    assert {key: request[key] for key in ("probe", "modules", "device", "roots")} == {
        "probe": "p", "modules": ["fancy_module"], "device": "cpu", "roots": ["/repository"],
    }  # fmt: skip
    assert request["tolerances"]["int-exact"] == [0, 0]
    assert set(request["tolerances"]) == set(knowledge.tolerances)


def test_the_routes_variables_are_set_for_the_check(knowledge, interpreter):
    environment = Environment.of(
        interpreter('echo "{\\"probe\\": \\"p\\", \\"outcome\\": \\"absent\\", \\"reason\\": \\"$WAY\\"}"')
    )

    assert run_backend_check(replace(FANCY, env={"WAY": "triton"}), environment, knowledge).reason == "triton"
