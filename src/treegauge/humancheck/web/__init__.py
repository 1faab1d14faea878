"""The page of the human check: an ASGI application, its templates and scripts, and the server."""
