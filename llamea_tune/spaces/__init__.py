"""DESCRIBE: load search spaces, hold them as arrays, say what they are like."""
