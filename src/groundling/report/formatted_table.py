"""One small table that prints itself in a terminal, as Markdown and as HTML."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from groundling.report.escape import clean, escape_markdown
from groundling.report.html import render
from groundling.report.numbers import Value, rounded, shown, value_of

if TYPE_CHECKING:
    import rich.console
    from markupsafe import Markup

NAME = 24  # characters up to which the first column is not broken into lines


@dataclass(frozen=True)
class Column:
    """A heading and how to show what is below it.

    Attributes:
        name: the heading.
        group: a second heading shared with neighbouring columns of the same group.
        best: whether the highest or the lowest value of the column is set in bold.
        decimals: digits after the point.
        text: left-aligned words rather than right-aligned numbers.
    """

    name: str
    group: str = ""
    best: Literal["", "high", "low"] = ""
    decimals: int = 1
    text: bool = False

    @property
    def full_name(self) -> str:
        return f"{self.group} {self.name}".strip()


@dataclass(frozen=True)
class Table:
    """Rows under columns; the first cell names the row.

    Attributes:
        foot: rows set apart at the end (means, chance); they do not compete for the best value.
        notes: sentences below the table.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Value]]
    notes: Sequence[str] = ()
    foot: Sequence[Sequence[Value]] = ()

    def __post_init__(self) -> None:
        for row in (*self.rows, *self.foot):
            if len(row) != len(self.columns):
                raise ValueError(f"a row of {len(row)} cells under {len(self.columns)} columns: {row}")

    def _texts(self, row: Sequence[Value]) -> list[str]:
        return [clean(shown(cell, column.decimals)) for cell, column in zip(row, self.columns, strict=True)]

    def _bold(self) -> list[list[bool]]:
        """For each cell of `rows` whether it is its column's best; what reads the same is as good."""
        bold = [[False] * len(self.columns) for _ in self.rows]
        for index, column in enumerate(self.columns):
            values = [value_of(row[index]) for row in self.rows]
            numbers = [value for value in values if value is not None]
            if column.best and len(numbers) > 1:
                best = rounded(max(numbers) if column.best == "high" else min(numbers), column.decimals)
                for line, value in zip(bold, values, strict=True):
                    line[index] = value is not None and rounded(value, column.decimals) == best
        return bold

    def terminal(self) -> "rich.console.Group":
        """For rich's console. A group's name stands above its first column only, to fit 80 characters.

        Title and notes stand around the table rather than in it, where rich would break them to the table's width.
        """
        from rich import box
        from rich.console import Group
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(box=box.SIMPLE_HEAD, show_edge=False, padding=0)
        grouped = any(column.group for column in self.columns)
        before = ""
        for number, column in enumerate(self.columns):
            above = column.group if column.group != before else ""
            heading = f"{above}\n{column.name}" if grouped else column.name
            # Names are read and typed again: they stand in one line while they are short, and are never cut.
            named = number == 0 and all(len(row[0]) <= NAME for row in self.rows if isinstance(row[0], str))
            whole = named or not column.text
            table.add_column(
                Text(clean(heading)), justify="left" if column.text else "right", no_wrap=whole, overflow="fold"
            )
            before = column.group
        for row, bold in zip(self.rows, self._bold(), strict=True):
            pairs = zip(self._texts(row), bold, strict=True)
            table.add_row(*(Text(text, style="bold" if best else "") for text, best in pairs))
        if self.foot:
            table.add_section()
            for row in self.foot:
                table.add_row(*(Text(text, style="dim") for text in self._texts(row)))
        title = [Text(clean(self.title), style="italic")] if self.title else []
        return Group(*title, table, *(Text(clean(note)) for note in self.notes))

    def markdown(self) -> str:
        """Aligned in the source too, so that it reads well unrendered; the title stands above in bold."""
        from rich.cells import cell_len

        lines = [[escape_markdown(column.full_name) for column in self.columns]]
        plain = [[False] * len(self.columns) for _ in self.foot]
        for row, bold in zip((*self.rows, *self.foot), self._bold() + plain, strict=True):
            texts = [escape_markdown(text) for text in self._texts(row)]
            lines.append([f"**{text}**" if best else text for text, best in zip(texts, bold, strict=True)])
        widths = [max(3, *(cell_len(line[index]) for line in lines)) for index in range(len(self.columns))]

        def padded(text: str, width: int, column: Column) -> str:
            space = " " * (width - cell_len(text))
            return text + space if column.text else space + text

        rule = [
            "-" * width if c.text else "-" * (width - 1) + ":" for width, c in zip(widths, self.columns, strict=True)
        ]
        body = [[padded(*cell) for cell in zip(line, widths, self.columns, strict=True)] for line in lines]
        parts = [f"**{escape_markdown(self.title)}**\n"] if self.title else []
        parts += ["| " + " | ".join(line) + " |" for line in (body[0], rule, *body[1:])]
        parts += [f"\n{escape_markdown(note)}" for note in self.notes]
        return "\n".join(parts) + "\n"

    def html(self) -> "Markup":
        """A table with caption, scopes and groups, inside a box that scrolls sideways on a narrow screen."""
        plain = [[False] * len(self.columns) for _ in self.foot]
        rows, foot = (
            [
                [{"text": text, "best": best} for text, best in zip(self._texts(row), line, strict=True)]
                for row, line in zip(part, bold, strict=True)
            ]
            for part, bold in ((self.rows, self._bold()), (self.foot, plain))
        )
        groups = [(name, len(list(members))) for name, members in groupby(self.columns, key=lambda each: each.group)]
        grouped = any(name for name, _ in groups)
        return render("table.html", table=self, rows=rows, foot=foot, groups=groups if grouped else [])
