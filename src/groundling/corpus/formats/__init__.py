"""One file per public layout; each makes a Corpus from files and names what is wrong with them."""
