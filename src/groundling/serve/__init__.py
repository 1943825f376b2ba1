"""Serve: an index over HTTP, with an OpenAPI, limits on everything, and a page to search from.

Needs the extra `serve`. `app.make_app` builds the application, `server.run` keeps it running.
"""
