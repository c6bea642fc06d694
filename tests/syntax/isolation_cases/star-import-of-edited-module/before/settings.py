is_rocm = "unknown"
