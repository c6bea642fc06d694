"""review.json: the answers of `rocm3d review`, by which it resumes and which later applies respect."""

from __future__ import annotations

from typing import Literal

from rocm3d.model.base import Digest, Document, Record, TreePath
from rocm3d.model.patch import DECLINED


class ReviewAnswer(Record):
    """The answer about edits that are made or left out together. `shown` is a digest of the diff that was shown."""

    path: TreePath
    recipes: tuple[str, ...]
    answer: Literal["yes", "no"]
    shown: Digest


class ReviewAnswers(Document):
    """review.json."""

    repository: str
    answers: tuple[ReviewAnswer, ...] = ()

    def with_answer(self, answer: ReviewAnswer) -> ReviewAnswers:
        """The answers with a new one in place of those about the same edits."""
        others = (item for item in self.answers if item.path != answer.path or not {*item.recipes} & {*answer.recipes})
        return self.model_copy(update={"answers": (*others, answer)})


def declined_edits(answers: ReviewAnswers | None) -> dict[tuple[str, str], str]:
    """The reason for each edit, by path and recipe, that the user left out."""
    declined = (item for item in (answers.answers if answers else ()) if item.answer == "no")
    return {(item.path, recipe): DECLINED for item in declined for recipe in item.recipes}
