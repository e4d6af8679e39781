"""Earlier starts: what they took, phase by phase, and how they ended, in one SQLite file of this user.

No command line, environment or log text is kept, only what `records.StartRow` names, with secrets masked.
"""
