"""Cross-lingual consistency: a query and its translations are scored together (Burns et al. 2020, section 3.4)."""
