"""Agents: what each sees, how it is asked, and what it decides."""
