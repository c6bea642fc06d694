# -*- coding: latin-1 -*-
"""Café."""
from __future__ import annotations
import torch


def scale(x):
    return x * 2
