"""The world: markets, their prices and how they end."""
