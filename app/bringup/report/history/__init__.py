"""Earlier starts as pages and files: the list with its chart, and two starts side by side."""
