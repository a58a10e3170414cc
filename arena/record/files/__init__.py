"""The record as a file: backup, restore, copy, move, and checks of a file."""
