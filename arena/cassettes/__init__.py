"""Cassettes: what venues and models once answered, without secrets, to be read again without a network.

The `shipped` folder has those of the package; a config's own are in `cassettes/` beside it.
"""
