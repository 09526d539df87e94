"""Dashboards: choices, player, pump and page; one file per app."""
