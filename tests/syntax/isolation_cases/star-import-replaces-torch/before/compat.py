class torch:
    class version:
        hip = "6.0"
