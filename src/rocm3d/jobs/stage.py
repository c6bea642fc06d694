"""Runs the jobs of a jobs.toml, and serves status, cancel, retry and log requests from other terminals."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.jobs.journal import Journal, opened
from rocm3d.jobs.report import report
from rocm3d.jobs.runner import Runner
from rocm3d.jobs.standing import standing
from rocm3d.model.failure import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from rocm3d.jobs.course import Course
    from rocm3d.jobs.engine import Engine
    from rocm3d.jobs.folder import RunFolder
    from rocm3d.jobs.specification import Jobs
    from rocm3d.model.jobs import JobsReport


@dataclass(frozen=True)
class Campaign:
    """Jobs and their run folder. `integrated` returns gfx ids of integrated GPUs, which jobs do not use by default."""

    jobs: Jobs
    folder: RunFolder
    integrated: Callable[[], frozenset[str]] = frozenset

    def run(self, watch: Callable[[Runner], None] | None = None, say: Callable[[str], object] = len) -> JobsReport:
        """Run all jobs that are not done. `say` receives notes before the first job starts."""
        with self.folder.held() as lock:
            journal, known, trouble = opened(self.folder.journal)
            with closing(journal):
                courses = self._courses(known)
                engine = self._engine(lock)
                notes = [*([trouble] if trouble else []), *engine.notes()]
                for note in notes:
                    say(note)
                slots = [slot.name for slot in engine.slots()]
                journal.forget(known.keys() - courses.keys())
                journal.write(courses.values(), {"slots": json.dumps(slots), "notes": json.dumps(notes)})
                with engine:
                    Runner(self.jobs, self.folder, journal, courses, engine, watch).run()
                return report(self.jobs, self.folder, courses, slots, notes).model_copy(update={"runner": None})

    def status(self) -> JobsReport:
        """State of all jobs. Read-only; does not wait for a runner."""
        known, facts = self._read()
        if self.folder.runner() is None:
            courses = self._courses(known)
        else:
            courses = {job.id: known[job.id] for job in self.jobs.jobs if job.id in known}
        slots, notes = (_list(facts.get(name, "")) for name in ("slots", "notes"))
        return report(self.jobs, self.folder, courses, slots, notes)

    def wish(self, wish: str, names: Sequence[str]) -> bool:
        """Cancel or retry jobs (default: all). Returns whether a running runner will do it now."""
        wanted = self._known(names) or [job.id for job in self.jobs.jobs]
        if self.folder.runner() is not None:
            with closing(Journal(self.folder.journal)) as journal:
                journal.wish(wish, wanted)
            return True
        with self.folder.held():
            journal, known, _ = opened(self.folder.journal)
            with closing(journal):
                courses = self._courses(known)
                # Only the next runner can end jobs on a cluster.
                journal.wish(wish, [name for name in wanted if courses[name].remote])
                for name in wanted:
                    courses[name].cancel() if wish == "cancel" else courses[name].retry()
                journal.write(courses.values())
        return False

    def log(self, name: str, attempt: int | None) -> Path:
        """Log file of an attempt (default: the last one)."""
        self._known([name])
        number = attempt or next(job.attempts for job in self.status().jobs if job.id == name)
        place = self.folder.log(name, number)
        if not place.is_file():
            raise UserError(f"job {name} has no attempt {number}" if number else f"job {name} has not started yet")
        return place

    def forget(self) -> None:
        """Delete status files, logs and journal."""
        with self.folder.held():
            for place in (self.folder.root / "status", self.folder.root / "logs"):
                for path in place.iterdir():
                    path.unlink()
            for path in self.folder.root.glob(f"{self.folder.journal.name}*"):
                path.unlink()

    def _known(self, names: Iterable[str]) -> list[str]:
        there = {job.id for job in self.jobs.jobs}
        for name in names:
            if name not in there:
                raise UserError(f"no job {name!r} in {self.jobs.path.name}", hint="list them: `rocm3d jobs status`")
        return list(names)

    def _courses(self, known: dict[str, Course]) -> dict[str, Course]:
        return standing(self.jobs.jobs, known, self.folder.root / "status", self.jobs.run.interruptions)

    def _read(self) -> tuple[dict[str, Course], dict[str, str]]:
        """Content of the journal; empty if it is missing or damaged (the next run rebuilds it)."""
        if not self.folder.journal.exists():
            return {}, {}
        try:
            with closing(Journal(self.folder.journal)) as journal:
                return journal.courses(), journal.facts()
        except sqlite3.DatabaseError:
            return {}, {}

    def _engine(self, lock: int) -> Engine:
        # Import only the selected engine: the others need optional packages.
        if self.jobs.run.engine == "slurm":
            from rocm3d.jobs.engines.slurm import Slurm  # noqa: PLC0415

            return Slurm(self.jobs, self.folder)
        if self.jobs.run.engine == "ray":
            from rocm3d.jobs.engines.ray import Ray  # noqa: PLC0415

            return Ray(self.jobs, self.folder)
        from rocm3d.jobs.engines.local import Local  # noqa: PLC0415

        return Local(self.jobs, lock, integrated=self.integrated)


def _list(text: str) -> list[str]:
    try:
        said = json.loads(text)
    except ValueError:
        return []
    return [item for item in said if isinstance(item, str)] if isinstance(said, list) else []
