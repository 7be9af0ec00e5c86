"""Measurements. Every number in the documentation is printed by one of these."""
