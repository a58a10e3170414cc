"""Cohorts."""
