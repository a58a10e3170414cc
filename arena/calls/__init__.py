"""Calls to models: reservations, rate limits, storage of every answer, and cost estimates."""
