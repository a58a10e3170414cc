"""The tables of the record, and how its database is opened."""
