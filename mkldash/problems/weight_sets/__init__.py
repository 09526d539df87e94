"""Weight sets: one file each."""
