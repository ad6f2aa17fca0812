"""Numbers in sentences."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number of things: `1 config`, `1,024 configs`, `2 entries`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
