"""Tables of runs: rows of recipes, several seeds, cached cell by cell."""
