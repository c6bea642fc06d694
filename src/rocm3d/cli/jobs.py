"""Run independent jobs, one GPU each; show, cancel and retry them from another terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rocm3d.cli import options
from rocm3d.cli.session import CliSession
from rocm3d.model.errors import ExitCode
from rocm3d.render.formats import format_names, refuse_unknown_format

if TYPE_CHECKING:
    from rocm3d.pipeline.jobs import Campaign, JobRunner

POSITION = 65
EXAMPLE = "Example: rocm3d jobs run jobs.toml; in another terminal: rocm3d jobs status jobs.toml"
_CHUNK_BYTES = 1 << 16

File = Annotated[Path, typer.Argument(metavar="JOBS", help="The jobs.toml.", dir_okay=False, show_default=False)]
Names = Annotated[list[str], typer.Argument(metavar="JOB", help="Ids of jobs. Default: all.", show_default=False)]
Name = Annotated[str, typer.Argument(metavar="JOB", help="The id of a job.", show_default=False)]
Work = Annotated[
    Path | None,
    typer.Option("--work", help="Folder for journal and logs. Default: .rocm3d/jobs next to JOBS.", file_okay=False),
]
Number = Annotated[int | None, typer.Option("--attempt", min=1, help="Which attempt. Default: the last one.")]
Follow = Annotated[bool, typer.Option("--follow", "-f", help="Print new output until the runner ends.")]
Form = Annotated[str, options.format_option("JobsReport")]


def run(
    session: CliSession, jobs: File, work: Work = None, form: Form = "console", output: options.Output = None
) -> ExitCode:
    """Run all jobs that are not done yet, each on its own GPU; without a GPU they run on the CPU.

    Run it again to continue: jobs that are done are not repeated; interrupted ones are repeated and counted. Ctrl-C
    stops all running jobs. Exit code 1 if a job failed, timed out or was cancelled.
    """
    refuse_unknown_format(form, format_names("JobsReport"))
    campaign = _campaign(session, jobs, work)
    with live_table(session) as watch:
        document = campaign.run(watch, session.print_status)
    session.show(document, form, output)
    return ExitCode.FINDINGS if document.has_failures else ExitCode.DONE


def status(
    session: CliSession, jobs: File, work: Work = None, form: Form = "console", output: options.Output = None
) -> ExitCode:
    """Show the state of the jobs. Exit code 1 if a job failed, timed out or was cancelled."""
    refuse_unknown_format(form, format_names("JobsReport"))
    document = _campaign(session, jobs, work).status()
    session.show(document, form, output)
    return ExitCode.FINDINGS if document.has_failures else ExitCode.DONE


def cancel(session: CliSession, jobs: File, job: Names = [], work: Work = None) -> None:
    """Cancel jobs. A waiting job does not start; a running one is stopped with all its child processes."""
    runner_is_active = _campaign(session, jobs, work).request("cancel", job)
    session.print_status("the runner is stopping them" if runner_is_active else "cancelled; no runner is active")


def retry(session: CliSession, jobs: File, job: Names = [], work: Work = None) -> None:
    """Retry jobs that failed, timed out or were cancelled. Jobs that are done are not repeated."""
    runner_is_active = _campaign(session, jobs, work).request("retry", job)
    session.print_status(
        "the runner will start them" if runner_is_active else f"run them with `rocm3d jobs run {jobs}`"
    )


def logs(
    session: CliSession, jobs: File, job: Name, attempt: Number = None, follow: Follow = False, work: Work = None
) -> None:
    """Print the output of a job."""
    campaign = _campaign(session, jobs, work)
    log_path = campaign.log(job, attempt)
    with log_path.open("rb") as file:
        while True:
            is_last_read = not follow or campaign.folder.runner_pid() is None
            while chunk := file.read(_CHUNK_BYTES):
                sys.stdout.buffer.write(chunk)
                sys.stdout.buffer.flush()
            if is_last_read:
                return
            time.sleep(0.3)


COMMANDS = (run, status, cancel, retry, logs)


def _campaign(session: CliSession, jobs: Path, work: Path | None) -> Campaign:
    from rocm3d.pipeline.jobs import campaign

    return campaign(jobs, work, session.load)


@contextmanager
def live_table(session: CliSession) -> Iterator[Callable[[JobRunner], None] | None]:
    """A callback that updates a live table; None if stderr is not a terminal."""
    if session.quiet or session.verbose or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    from rich.console import Console
    from rich.live import Live

    from rocm3d.render.job_forms import job_table, state_counts, time_left

    with Live(console=Console(stderr=True, highlight=False), auto_refresh=False, transient=True) as live:

        def update_table(runner: JobRunner) -> None:
            from rich.console import Group

            document = runner.report()
            running = [job for job in document.jobs if job.state == "running"][: live.console.height - 4]
            line = f"{state_counts(document.counts)}{time_left(document.seconds_left)}"
            live.update(Group(*job_table(running), line), refresh=True)

        yield update_table
