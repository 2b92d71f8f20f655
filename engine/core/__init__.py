"""Domain types, errors, events, time and configuration: what every layer shares."""
