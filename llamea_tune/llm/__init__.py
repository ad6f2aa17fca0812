"""ASK: language models behind one protocol."""
