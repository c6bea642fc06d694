from __future__ import annotations

import csv
import io

from rocm3d.model.inventory import Matrix, MatrixColumn, MatrixRow
from rocm3d.render.csv import render


def test_a_name_that_a_spreadsheet_would_run_is_quoted():
    document = Matrix(
        columns=(
            MatrixColumn(repository='=HYPERLINK("a")', readiness="ready"),
            MatrixColumn(repository="a,b", readiness="ready"),
        ),
        rows=(MatrixRow(package="gsplat", family="gaussian", states={"a,b": "work"}),),
        order=(),
        free=(),
    )
    rows = list(csv.reader(io.StringIO(render(document))))

    assert rows == [
        ["package", "family", "waiting", '\'=HYPERLINK("a")', "a,b"],
        ["gsplat", "gaussian", "1", "", "work"],
    ]
