"""Ways in: HTTP with MCP on it, and the command line. Each is a thin shell over `app.operations`."""
