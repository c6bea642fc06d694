"""The same jobs.toml for every engine, and what must come of it."""

from __future__ import annotations

import json

import pytest

JOBS = """
[run]
engine = "{engine}"
slots = 3
gpus = []
timeout = "60s"
grace = 0

[[job]]
id = "good-{{}}"
each = ["a", "b", "c"]
env = {{ WORD = "w{{}}" }}
command = ["sh", "-c", "echo $WORD $PWD ${{ROCR_VISIBLE_DEVICES-none}} ${{HIP_VISIBLE_DEVICES-none}}"]

[[job]]
id = "flaky"
retries = 2
command = ["sh", "-c", "if [ -e tried ]; then exit 0; fi; touch tried; exit 3"]

[[job]]
id = "bad"
command = ["sh", "-c", "echo oh dear >&2; exit 7"]

[[job]]
id = "slow"
timeout = "1s"
command = ["sh", "-c", "sleep 300 & sleep 300"]
"""


@pytest.fixture
def same_jobs(yard):
    """Runs them by an engine and looks at all that comes of it; the words that good jobs printed."""

    def run(engine: str, env: dict[str, str]) -> list[list[str]]:
        yard.write(JOBS.format(engine=engine))
        code, out, err = yard.call("run", "--format", "json", env=env)
        assert code == 1, out + err
        found = {job["id"]: job for job in json.loads(out)["jobs"]}
        states = {name: (job["state"], job["attempts"], job["code"]) for name, job in found.items()}
        assert states == {
            "good-a": ("done", 1, 0),
            "good-b": ("done", 1, 0),
            "good-c": ("done", 1, 0),
            "flaky": ("done", 2, 0),
            "bad": ("failed", 1, 7),
            "slow": ("timed_out", 1, None),
        }
        assert yard.call("logs", "bad")[1] == "oh dear\n"
        assert yard.is_quiet()
        return [yard.call("logs", f"good-{name}")[1].split() for name in "abc"]

    return run
