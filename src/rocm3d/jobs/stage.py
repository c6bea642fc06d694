"""Runs the jobs of a jobs.toml, and serves status, cancel, retry and log requests from other terminals."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.jobs.job_progress import report
from rocm3d.jobs.journal import JobJournal, open_journal
from rocm3d.jobs.runner import JobRunner
from rocm3d.jobs.status_files import recover_progress
from rocm3d.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from rocm3d.jobs.engine import Engine
    from rocm3d.jobs.folder import RunFolder
    from rocm3d.jobs.job_progress import JobProgress
    from rocm3d.jobs.specification import Jobs
    from rocm3d.model.jobs import JobsReport


@dataclass(frozen=True)
class Campaign:
    """Jobs and their run folder. `integrated` returns gfx ids of integrated GPUs, which jobs do not use by default."""

    jobs: Jobs
    folder: RunFolder
    integrated: Callable[[], frozenset[str]] = frozenset

    def run(self, watch: Callable[[JobRunner], None] | None = None, say: Callable[[str], object] = len) -> JobsReport:
        """Run all jobs that are not done. `say` receives notes before the first job starts."""
        with self.folder.hold_lock() as lock:
            journal, known, damage_note = open_journal(self.folder.journal)
            with closing(journal):
                progress = self._recover(known)
                engine = self._engine(lock)
                notes = [*([damage_note] if damage_note else []), *engine.notes()]
                for note in notes:
                    say(note)
                slots = [slot.name for slot in engine.slots()]
                journal.remove(known.keys() - progress.keys())
                journal.write(progress.values(), {"slots": json.dumps(slots), "notes": json.dumps(notes)})
                with engine:
                    JobRunner(self.jobs, self.folder, journal, progress, engine, watch).run()
                return report(self.jobs, self.folder, progress, slots, notes).model_copy(update={"runner": None})

    def status(self) -> JobsReport:
        """State of all jobs. Read-only; does not wait for a runner."""
        known, facts = self._read_journal()
        if self.folder.runner_pid() is None:
            progress = self._recover(known)
        else:
            progress = {job.id: known[job.id] for job in self.jobs.jobs if job.id in known}
        slots, notes = (_parse_list(facts.get(name, "")) for name in ("slots", "notes"))
        return report(self.jobs, self.folder, progress, slots, notes)

    def request(self, action: str, names: Sequence[str]) -> bool:
        """Cancel or retry jobs (default: all). Returns whether a running runner will do it now."""
        job_ids = self._check_names(names) or [job.id for job in self.jobs.jobs]
        if self.folder.runner_pid() is not None:
            with closing(JobJournal(self.folder.journal)) as journal:
                journal.request(action, job_ids)
            return True
        with self.folder.hold_lock():
            journal, known, _ = open_journal(self.folder.journal)
            with closing(journal):
                progress = self._recover(known)
                # Only the next runner can end jobs on a cluster.
                journal.request(action, [name for name in job_ids if progress[name].remote])
                for name in job_ids:
                    progress[name].cancel() if action == "cancel" else progress[name].retry()
                journal.write(progress.values())
        return False

    def log(self, name: str, attempt: int | None) -> Path:
        """Log file of an attempt (default: the last one)."""
        self._check_names([name])
        number = attempt or next(job.attempts for job in self.status().jobs if job.id == name)
        log_path = self.folder.log(name, number)
        if not log_path.is_file():
            raise UserError(f"job {name} has no attempt {number}" if number else f"job {name} has not started yet")
        return log_path

    def reset(self) -> None:
        """Delete status files, logs and journal."""
        with self.folder.hold_lock():
            for pattern in ("status/*", "logs/*", f"{self.folder.journal.name}*"):
                for path in self.folder.root.glob(pattern):
                    path.unlink()

    def _check_names(self, names: Iterable[str]) -> list[str]:
        job_ids = {job.id for job in self.jobs.jobs}
        for name in names:
            if name not in job_ids:
                raise UserError(f"no job {name!r} in {self.jobs.path.name}", hint="list them: `rocm3d jobs status`")
        return list(names)

    def _recover(self, known: dict[str, JobProgress]) -> dict[str, JobProgress]:
        return recover_progress(self.jobs.jobs, known, self.folder.root / "status", self.jobs.run.interruptions)

    def _read_journal(self) -> tuple[dict[str, JobProgress], dict[str, str]]:
        """Content of the journal; empty if it is missing or damaged (the next run rebuilds it)."""
        if not self.folder.journal.exists():
            return {}, {}
        try:
            with closing(JobJournal(self.folder.journal)) as journal:
                return journal.progress(), journal.facts()
        except sqlite3.DatabaseError:
            return {}, {}

    def _engine(self, lock: int) -> Engine:
        # Import only the selected engine: the others need optional packages.
        if self.jobs.run.engine == "slurm":
            from rocm3d.jobs.engines.slurm import SlurmEngine  # noqa: PLC0415

            return SlurmEngine(self.jobs, self.folder)
        if self.jobs.run.engine == "ray":
            from rocm3d.jobs.engines.ray import RayEngine  # noqa: PLC0415

            return RayEngine(self.jobs, self.folder)
        from rocm3d.jobs.engines.local import LocalEngine  # noqa: PLC0415

        return LocalEngine(self.jobs, lock, integrated=self.integrated)


def _parse_list(text: str) -> list[str]:
    try:
        values = json.loads(text)
    except ValueError:
        return []
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []
