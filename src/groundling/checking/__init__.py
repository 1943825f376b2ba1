"""Is a text true of its picture? One question, or a whole table of captions, with a sheet for editors."""
