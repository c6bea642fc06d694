is_rocm = "unknown"
from lib import *

print(is_rocm)
