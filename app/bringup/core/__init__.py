"""The pure half: bytes become events, events become state, state becomes a verdict. No clock and no IO."""
