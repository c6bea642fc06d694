import torch
from compat import *


def scale(x):
    return x * 2
