"""Picture encoders: features of pictures into the shared space, found by name in `PICTURE_ENCODERS`."""

from groundling.encoders.picture.adapted import AdaptedPictures
from groundling.encoders.picture.base import PICTURE_ENCODERS, PictureChoice, PictureEncoder, chosen, features_in
from groundling.encoders.picture.given import BlankPictures, GivenPictures
from groundling.encoders.picture.grid import GridEncoder
from groundling.encoders.picture.linear import LinearPictureEncoder
from groundling.encoders.picture.standardised import StandardisedEncoder
from groundling.encoders.picture.two_layers import TwoLayerPictureEncoder

__all__ = [
    "PICTURE_ENCODERS",
    "AdaptedPictures",
    "BlankPictures",
    "GivenPictures",
    "GridEncoder",
    "LinearPictureEncoder",
    "PictureChoice",
    "PictureEncoder",
    "StandardisedEncoder",
    "TwoLayerPictureEncoder",
    "chosen",
    "features_in",
]
