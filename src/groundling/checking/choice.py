"""Which way of checking suits a model: comparing, which any retrieval model can, or judging, where it is good at it."""

from pathlib import Path
from typing import cast

from groundling.checking.checker import Checker
from groundling.checking.matcher import Matcher
from groundling.checking.method import Method
from groundling.errors import UserError
from groundling.model import FeatureModel, Model


def method_for(model: Model, judge: bool | None = None) -> Method:
    """`judge` says whether the model shall judge what captions state; where None, it does if it is known to be able to.

    A judge is used without being asked for only where, on its own test statements, it was right more often than their
    words alone tell: one that was not looks at no picture, whatever its probabilities say.
    """
    if judge or (judge is None and model.judges):
        checker = Checker(cast(FeatureModel, model))  # what judges looks through a backbone
        if judge is None:
            _check_proven(model)
        return checker
    return Matcher(model)


def load_method(
    name: str | Path,
    device: str = "auto",
    judge: bool | None = None,
    text: str | None = None,
    prompt: str | None = None,
) -> Method:
    """The same of a model by its folder or name; `text` and `prompt` go with a pretrained one (see `Model.load`)."""
    return method_for(Model.load(name, device, text, prompt), judge)


def beats_words(model: Model) -> bool | None:
    """Whether a judge was right more often than words alone, over the languages it was tested in; None: not tested."""
    both = [code for code in model.accuracy if code in model.words_alone]
    if not both:
        return None
    return sum(model.accuracy[code] for code in both) > sum(model.words_alone[code] for code in both)


def _check_proven(model: Model) -> None:
    proven = beats_words(model)
    if proven is None:
        raise UserError(
            f"{model.name}: judges statements, but nobody has tested whether it looks at pictures for that; test it "
            "with `groundling evaluate`, ask for it with --judge, or name a retrieval model"
        )
    if not proven:
        code = next(code for code in model.accuracy if code in model.words_alone)
        raise UserError(
            f"{model.name}: judges {model.accuracy[code]:.0f} % of its test statements right ({code}), where their "
            f"words alone tell {model.words_alone[code]:.0f} %, so it is not used unless asked for with --judge; a "
            "retrieval model tells which captions belong to other pictures"
        )
