"""The record: facts, written once, in SQLite or PostgreSQL."""
