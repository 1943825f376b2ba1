"""The kinds of columns that tables of pictures, captions and statements are made of."""

import numpy as np
import numpy.typing as npt

Strings = npt.NDArray[np.str_]
Integers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
