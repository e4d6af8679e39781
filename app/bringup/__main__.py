"""Run `python -m bringup`."""

from bringup.cli import main

if __name__ == "__main__":
    main()
