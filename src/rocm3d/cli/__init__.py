"""One module per subcommand: parse the arguments, call the pipeline, render the result."""
