import lib.is_rocm
import importlib

from lib import is_rocm

print(is_rocm)
