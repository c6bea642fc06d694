"""Apply: Plan + Tree -> Patch. The only stage that writes into a target, and only through workspace.writer."""
