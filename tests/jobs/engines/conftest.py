"""One jobs.toml for all engines, with the expected results."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

JOBS = """
[run]
engine = "{engine}"
slots = 3
gpus = []
timeout = "30m"
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
command = ["sh", "-c", "sleep 3600 & sleep 3600"]
"""
ENDINGS = {
    "good-a": ("done", 1, 0),
    "good-b": ("done", 1, 0),
    "good-c": ("done", 1, 0),
    "flaky": ("done", 2, 0),
    "bad": ("failed", 1, 7),
    "slow": ("timed_out", 1, None),
}


@dataclass(frozen=True)
class SameJobs:
    """The jobs in a folder, and checks of their results."""

    jobs_folder: Any
    expected: ClassVar = ENDINGS

    def write(self, engine: str, more: str = "") -> None:
        self.jobs_folder.write(JOBS.format(engine=engine) + more)

    @staticmethod
    def endings(report: dict) -> dict[str, tuple[str, int, int | None]]:
        """State, number of attempts and exit code of each job."""
        return {job["id"]: (job["state"], job["attempts"], job["code"]) for job in report["jobs"]}

    def words(self) -> list[list[str]]:
        """Output of the good jobs, split into words."""
        assert self.jobs_folder.log("bad") == "oh dear\n"
        return [self.jobs_folder.log(f"good-{name}").split() for name in "abc"]

    def run(self, engine: str, env: dict[str, str]) -> list[list[str]]:
        """Run all jobs to their end; returns the output of the good ones."""
        self.write(engine)
        code, out, err = self.jobs_folder.call("run", "--format", "json", env=env)
        assert code == 1, out + err
        assert self.endings(json.loads(out)) == self.expected
        self.jobs_folder.wait_until_quiet()
        return self.words()


@pytest.fixture
def same_jobs(jobs_folder):
    return SameJobs(jobs_folder)
