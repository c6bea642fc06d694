from pathlib import Path

text = Path("scale.cu").read_text()
print(len(text.splitlines()))
