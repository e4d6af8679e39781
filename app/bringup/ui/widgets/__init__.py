"""Widgets: what is painted elsewhere, put on the screen."""
