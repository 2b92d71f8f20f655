"""Neural layers, states and weights."""
