"""Losses: one file each."""
