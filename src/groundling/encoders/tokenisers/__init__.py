"""What cuts captions into the numbers that text encoders read; no torch is needed here."""
