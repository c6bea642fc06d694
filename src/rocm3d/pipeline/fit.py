"""Whether a known repository fits a GPU, without a checkout of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from rocm3d.knowledge.base import Knowledge, suggestion
from rocm3d.model.errors import UserError
from rocm3d.model.fit import Fit
from rocm3d.model.target import Gpu
from rocm3d.plan.comparison import ComparisonRequest
from rocm3d.plan.fitness import fitness
from rocm3d.workspace.machine_name import today


def fit_model(name: str, gpu: Gpu, knowledge: Knowledge, as_of: date | None = None, against: Sequence[str] = ()) -> Fit:
    """Viability and memory of a known repository on a GPU, with the facts known at a date (None: today)."""
    port = knowledge.ports.get(name.lower())
    if port is None:
        message = f"{name!r} is neither a folder nor a known repository"
        raise UserError(message, hint=suggestion(name, knowledge.ports))
    rivals = [knowledge.nvidia_card(card) for card in against]
    return fitness(ComparisonRequest(gpu, knowledge, today(), rivals), port, as_of or today())
