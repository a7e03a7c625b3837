"""Run the command line with ``python -m coevo``."""

from coevo.cli import main

if __name__ == "__main__":
    main()
