"""Formulas of boards that their forms are read by."""
