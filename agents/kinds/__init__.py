"""Kinds of agents, one a file: a class `Settings` and a function `agent(settings, given)`."""
