from __future__ import annotations

import pytest

from rocm3d.model.base import Document
from rocm3d.render.console_forms import document_lines, summary_lines


@pytest.mark.parametrize("form", [document_lines, summary_lines])
def test_a_document_without_a_form_is_a_bug_and_names_it(form):
    with pytest.raises(TypeError, match="Document"):
        form(Document())
