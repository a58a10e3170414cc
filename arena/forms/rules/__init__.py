"""Formulas of boards, used to read their forms."""
