from __future__ import annotations

import io

from rocm3d.record import attendant
from rocm3d.record.attendant import Attendant


def test_a_silent_program_is_spoken_for_on_the_terminal_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(attendant, "SILENT", 0.0)
    terminal = io.BytesIO()
    one = Attendant(tmp_path / "o", terminal, ("TRITON_CACHE_DIR",))
    one.look(2**30)
    one.close()

    assert b"still running after 0 s" in terminal.getvalue()
    assert b"empty caches: TRITON_CACHE_DIR" in terminal.getvalue()
    assert (tmp_path / "o").read_bytes() == b""


def test_a_terminal_that_has_gone_away_does_not_end_the_program(tmp_path, monkeypatch):
    class Gone(io.BytesIO):
        def write(self, _):
            raise BrokenPipeError

    monkeypatch.setattr(attendant, "SILENT", 0.0)
    one = Attendant(tmp_path / "o", Gone(), ())
    one.look(2**30)
    one.close()

    assert (tmp_path / "o").read_bytes() == b""


def test_a_program_that_prints_is_left_alone(tmp_path):
    terminal = io.BytesIO()
    one = Attendant(tmp_path / "o", terminal, ())
    one.write(b"hello\n")
    one.look(2**30)
    one.close()

    assert terminal.getvalue() == b"hello\n" == (tmp_path / "o").read_bytes()


def test_what_comes_after_the_end_is_not_kept(tmp_path):
    one = Attendant(tmp_path / "o", None, ())
    one.close()
    one.write(b"late")

    assert (tmp_path / "o").read_bytes() == b""
