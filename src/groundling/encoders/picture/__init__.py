"""Picture encoders: features of pictures into the shared space."""
