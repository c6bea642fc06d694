torch = None
