"""Common porting advice with a verdict: confirmed, bounded to versions or targets, or refuted."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from rocm3d.model.source import Fact, Gfx, Identifier, Range


class Advice(Fact):
    """A file of knowledge/advice/. Advice that became harmful stays, marked as refuted."""

    id: Identifier
    claim: str
    told_by: tuple[str, ...]
    verdict: Literal["confirmed", "bounded", "refuted"]
    why: str
    instead: str = ""
    rocm: Range = ""
    torch: Range = ""
    gfx: tuple[Gfx, ...] = ()
    about: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _check_bounds(self) -> Advice:
        if self.verdict == "refuted" and not self.instead:
            raise ValueError("refuted advice needs `instead`")
        if self.verdict == "bounded" and not (self.rocm or self.torch or self.gfx or self.instead):
            raise ValueError("bounded advice needs a bound: rocm, torch, gfx, or `instead` for the other cases")
        return self
