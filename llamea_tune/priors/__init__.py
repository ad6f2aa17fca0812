"""KNOW: what is known of a space's configs before the first measurement of it."""
