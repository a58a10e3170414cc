"""What the record stores, as frozen values that know of no database."""
