"""Numbers with their nouns, for texts that people read."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """`counted(1, "file")` is `1 file`, `counted(2, "file")` is `2 files`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
