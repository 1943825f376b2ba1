"""The sentence that a text is put into before it is read: "a photo of {}"."""

from groundling.errors import UserError

LONGEST = 500  # characters


def checked_prompt(prompt: str) -> str:
    """The prompt itself, where it has one place for the text."""
    if prompt.count("{}") != 1:
        raise UserError(f'--prompt "{prompt[:80]}": needs {{}} once, where the text goes, as in "a photo of {{}}"')
    if len(prompt) > LONGEST:
        raise UserError(f"--prompt: {len(prompt):,} characters are more than {LONGEST}")
    return prompt
