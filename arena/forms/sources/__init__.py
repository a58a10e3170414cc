"""Sources of forecasts that a user names: their files on the disk, and the form these are in."""
