"""The simulated host: a real SSH server on loopback and, behind it, real processes that start as an LLM server does."""
