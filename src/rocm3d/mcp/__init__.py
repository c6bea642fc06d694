"""The tools, resources and prompts that agents use, over the Model Context Protocol (`rocm3d mcp`)."""
