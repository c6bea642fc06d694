import torch


def scale(x):
    return x * 2


def switch(module):
    global torch
    torch = module
