is_rocm = False


def ask():
    return is_rocm
