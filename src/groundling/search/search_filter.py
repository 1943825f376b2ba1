"""Which part of an index is searched: a folder, a span of time, captions of a language."""

import re
from dataclasses import dataclass

from groundling.errors import UserError

#: A year, month or day. Dates are only compared, so that the 31st of every month is as good as its last day.
DATE = "[0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?"


@dataclass(frozen=True)
class SearchFilter:
    """Pictures in `folder` and below it, taken from `since` to `until` ("2019", "2019-07" or "2019-07-31", inclusive).

    Dates are compared as the text they are written as: "2019-07" is before all days of that month, and "2019-07~"
    after them. Of captions, those of a `language`.
    """

    folder: str = ""
    since: str = ""
    until: str = ""
    language: str = ""

    @staticmethod
    def of(
        folder: str | None = None, since: str | None = None, until: str | None = None, language: str | None = None
    ) -> "SearchFilter | None":
        """None where nothing is left out."""
        for name, said in (("since", since), ("until", until)):
            if said and not re.fullmatch(DATE, said):
                raise UserError(
                    f'--{name}: "{said[:40]}" is not a year, month or day such as 2019, 2019-07 or 2019-07-31'
                )
        clean = (folder or "").strip("/").removeprefix("./")
        if not (clean.strip(".") or since or until or language):
            return None
        return SearchFilter(clean if clean != "." else "", since or "", until or "", language or "")

    @property
    def after(self) -> str:
        """The first text that is behind all dates within `until`."""
        return f"{self.until}~" if self.until else ""
