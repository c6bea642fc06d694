import torch
from fast_tensors import *


def scale(x):
    return x * 2
