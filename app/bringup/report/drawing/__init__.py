"""Charts of a start as SVG, shared by the page and the picture: its phases, its ranks, the memory of its GPUs."""
