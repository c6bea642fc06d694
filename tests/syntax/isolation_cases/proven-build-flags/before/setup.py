import torch

with open("README.md") as file:
    text = file.read()
flags = ["-O3"]
