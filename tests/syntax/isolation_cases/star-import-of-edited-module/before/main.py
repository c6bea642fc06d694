from settings import is_rocm
from ops import *

value = is_rocm
