"""Starts kept as they happened: log bytes with their arrival times, samples, answers and actions, secrets masked."""
