"""How small a terminal may be."""

SMALLEST = (60, 15)
"""Columns and rows below which nothing useful fits."""
