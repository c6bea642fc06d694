"""One module per subcommand: parse, call the pipeline, render. No logic."""
