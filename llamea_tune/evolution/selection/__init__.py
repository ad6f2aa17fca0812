"""Selection schemes, one file each."""
