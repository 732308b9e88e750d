"""`python -m longbeam` is the `longbeam` command."""

from __future__ import annotations

from longbeam.cli import main

if __name__ == "__main__":
    main()
