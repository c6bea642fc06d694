import torch


def replace():
    global torch
    torch = None


replace()


def scale(x):
    return x * 2
