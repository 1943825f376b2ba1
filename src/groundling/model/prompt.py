"""The sentence that a text is put into before it is read, "a photo of {}", and who takes none."""

from groundling.errors import UserError

LONGEST = 500  # characters


def checked_prompt(prompt: str) -> str:
    """The prompt itself, where it has one place for the text."""
    if prompt.count("{}") != 1:
        raise UserError(f'--prompt "{prompt[:80]}": needs {{}} once, where the text goes, as in "a photo of {{}}"')
    if len(prompt) > LONGEST:
        raise UserError(f"--prompt: {len(prompt):,} characters are more than {LONGEST}")
    return prompt


def refuse_options(name: str, text: str | None, prompt: str | None) -> None:
    """Of a model that reads texts as it was trained to: neither another text side nor a prompt goes with it."""
    if text is not None or prompt is not None:
        option = "a separate text encoder" if text is not None else "a prompt"
        raise UserError(f"{name}: reads texts as it was trained to; {option} goes with a pretrained model")
