"""What was found out, told: as JSON for programs, as a page for people."""
