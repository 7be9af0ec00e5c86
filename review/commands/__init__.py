"""The commands of the bench, one file for each kind of work."""
