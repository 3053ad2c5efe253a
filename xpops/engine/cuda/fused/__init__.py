"""Expressions as one kernel."""
