"""Text encoders: captions into unit vectors of the shared space."""
