"""One watched host: wires hosts to the core and owns the tasks. It knows no widget, the screen knows no IO."""
