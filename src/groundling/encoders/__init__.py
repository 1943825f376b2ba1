"""Encoders: captions and pictures into unit vectors of one space. Tokenisers here need no torch, all else does."""
