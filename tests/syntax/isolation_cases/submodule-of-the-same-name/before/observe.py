from lib import is_rocm

print(type(is_rocm).__name__)
