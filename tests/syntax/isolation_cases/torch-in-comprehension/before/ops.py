import torch

stand_ins = ['a']
values = [2 for torch in stand_ins]
