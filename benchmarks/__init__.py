"""Measurements, one command each; figures in README.md."""
