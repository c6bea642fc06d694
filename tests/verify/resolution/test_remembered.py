from __future__ import annotations

from rocm3d.verify.resolution.answer import Request, Resolution
from rocm3d.verify.resolution.index import Indexes
from rocm3d.verify.resolution.remembered import Remembered


class Counting:
    label, indexes = "counting 1", Indexes("https://h/simple")

    def __init__(self):
        self.count = 0

    def resolve(self, request):
        self.count += 1
        return Resolution()


def request(folder, text, **more):
    folder.mkdir(exist_ok=True)
    (folder / "requirements.txt").write_text(text)
    return Request(folder / "requirements.txt", "3.12", "linux", **more)


def test_what_differs_is_asked_anew(tmp_path):
    counting = Counting()
    asked = Remembered(counting, {})
    asked.resolve(request(tmp_path / "a", "x\n"))
    asked.resolve(request(tmp_path / "b", "y\n"))
    asked.resolve(request(tmp_path / "c", "x\n", index="https://i"))
    asked.resolve(request(tmp_path / "d", "x\n", links=("/stand-ins",)))
    asked.resolve(request(tmp_path / "e", "x\n", without_dependencies=True))

    assert counting.count == 5


def test_the_same_in_another_folder_is_not_asked_again(tmp_path):
    counting, answers = Counting(), {}
    Remembered(counting, answers).resolve(request(tmp_path / "a", "x\n", links=("/one",)))
    Remembered(counting, answers).resolve(request(tmp_path / "b", "x\n", links=("/two",)))

    assert counting.count == 1


def test_it_goes_by_the_name_of_the_one_it_asks():
    asked = Remembered(Counting(), {})

    assert (asked.label, asked.indexes.default) == ("counting 1", "https://h/simple")
