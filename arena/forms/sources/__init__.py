"""What a user names as a source of forecasts: its files from the disk, and the form that they are of."""
