"""The money: exact buying, selling, settling and valuing, as pure functions on plain data."""
