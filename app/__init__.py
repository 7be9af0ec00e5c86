"""chatctx: approved engineering guidance, served to coding agents."""
