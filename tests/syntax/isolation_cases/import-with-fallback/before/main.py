try:
    from ops import is_rocm
except ImportError:
    is_rocm = "unknown"

print(is_rocm)
