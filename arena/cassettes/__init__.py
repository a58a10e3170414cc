"""Cassettes: recorded answers of venues and models, without secrets, for replay without a network.

The `shipped` folder has those of the package; a config's own are in `cassettes/` beside it.
"""
