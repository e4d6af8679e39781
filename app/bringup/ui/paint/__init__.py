"""Pure drawing: a picture of the session in, rows of (text, ink) out; no widget, no colour, no clock."""
