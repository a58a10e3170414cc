"""Asking a model: money reserved, limits respected, every answer kept; and what a line-up will cost."""
