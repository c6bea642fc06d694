"""rocm3d scan: what is CUDA-first in a repository."""

from __future__ import annotations

from rocm3d.cli import options
from rocm3d.cli.session import Session
from rocm3d.model.failure import Exit

POSITION = 10
EXAMPLE = "Example: rocm3d scan ./gaussian-splatting --skip DEP"


def command(
    session: Session,
    path: options.Target,
    only: options.Only = [],
    skip: options.Skip = [],
    form: options.Format = "console",
    output: options.Output = None,
    work: options.Work = None,
) -> Exit:
    """Find what is CUDA-first in a repository, where, and which family it belongs to.

    Reads only; nothing of the repository is executed. Exit code 1 if there is any error or warning.
    """
    with session.repository(path, work=work, only=tuple(only), skip=tuple(skip)) as repository:
        document = repository.scan()
    session.show(document, form, output)
    serious = any(finding.severity != "note" for finding in document.findings)
    return Exit.FINDINGS if serious else Exit.DONE
