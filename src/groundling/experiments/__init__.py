"""Tables of runs: rows of recipes, several seeds, cached entry by entry."""
