"""The operator's configuration: one file, checked as a whole, each mistake with its line and what was expected."""
