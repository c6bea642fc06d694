import torch

import ops

FUNCTIONS = {"scale": ops.scale}
compiled = {name: torch.jit.script(function) for name, function in FUNCTIONS.items()}
run = compiled["scale"]
