"""A caption as the mean of its pieces, then one hidden layer: order is lost, speed and small data are won."""

from torch import Tensor, nn
from torch.nn.functional import embedding_bag, normalize


class BagEncoder(nn.Module):
    """Table → mean over the pieces of a caption → dropout → linear → unit vector."""

    def __init__(self, rows: int, piece_dimensions: int, dimensions: int, dropout: float) -> None:
        super().__init__()
        self.pieces = nn.Embedding(rows, piece_dimensions, padding_idx=0)
        self.dropout = nn.Dropout(dropout)
        self.project = nn.Linear(piece_dimensions, dimensions)
        nn.init.normal_(self.pieces.weight, std=0.1)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest] rows of the table → [captions, dimensions]; padding (row 0) does not count."""
        mean = embedding_bag(ids.long(), self.pieces.weight, mode="mean", padding_idx=0)
        return normalize(self.project(self.dropout(mean)).float(), dim=-1)
