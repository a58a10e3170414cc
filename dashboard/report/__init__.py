"""One HTML file that says how a season stands, to be sent to someone: no script, and no request at all."""
