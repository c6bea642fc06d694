"""What a real resolver would install: stand-ins of the stack, requests, answers, and their judgement."""
