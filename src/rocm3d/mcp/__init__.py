"""Tools, resources and prompts for agents over the Model Context Protocol (`rocm3d mcp`)."""
