"""Where markets come from: one file a venue, with its `Settings`, its `stamp` and `venue(settings)`."""
