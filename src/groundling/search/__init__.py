"""Search: index a folder of pictures, or captions, and ask it in any language of the model."""

from groundling.search.index import FoundCaption, FoundPicture, Index
from groundling.search.indexing import index_captions, index_pictures, index_source

__all__ = ["FoundCaption", "FoundPicture", "Index", "index_captions", "index_pictures", "index_source"]
