"""`python -m llamea_tune`: the program, where its script is not installed."""

from llamea_tune.cli import main

if __name__ == "__main__":
    main()
