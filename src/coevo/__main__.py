"""``python -m coevo`` is the command line."""

from coevo.cli import main

if __name__ == "__main__":
    main()
