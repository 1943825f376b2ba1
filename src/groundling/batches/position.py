"""Where a sampler stands, in a form that can be written down."""


class Position:
    """How many batches were drawn from each of a sampler's streams.

    Batch k of a stream is a pure function of k, so that is all there is to know between two steps.
    """

    drawn: list[int]

    @property
    def state(self) -> list[int]:
        return list(self.drawn)

    @state.setter
    def state(self, drawn: list[int]) -> None:
        if len(drawn) != len(self.drawn):
            raise ValueError("this position belongs to another sampler")
        self.drawn = list(drawn)
