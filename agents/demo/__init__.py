"""A provider of make-believe models, so that a season can be played offline and without a key."""
