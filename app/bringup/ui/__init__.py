"""The console on a terminal: draws what a session knows and turns keys into its commands."""
