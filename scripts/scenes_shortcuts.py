"""How far one gets on the test statements of scenes without putting things together: numbers in docs/data/scenes.md.

picture only: always the most frequent label of the very picture (which nobody knows beforehand).
what is seen: a table of the most frequent label, learnt on train, by the form of the statement, by which of the sizes,
colours and kinds that it names are seen anywhere in the picture, and by what is hidden: colours, kinds, a box.
"""

from collections import Counter, defaultdict
from random import Random

from groundling.corpus.builtin.scenes_sampling import scenes
from groundling.corpus.builtin.scenes_statements import Made, draw
from groundling.corpus.builtin.scenes_world import Beside, Count, More, Scene


def what_is_seen(scene: Scene, made: Made) -> tuple[object, ...]:
    statement = made.statement
    things = [statement.thing, *([statement.other] if isinstance(statement, Beside | More) else [])]
    words = [word for thing in things for word in (thing.size, thing.colour, thing.kind) if word is not None]
    seen = {word for item in scene for word in (item.size, item.colour, item.kind)}
    hidden = {(item.colour is None, item.kind is None) for item in scene} - {(False, False)}
    number = statement.number if isinstance(statement, Count) else 0
    return type(statement).__name__, number, *(word in seen for word in words), frozenset(hidden)


def main() -> None:
    world = {split: scenes(split, number, 0) for split, number in (("train", 8000), ("test", 1000))}
    made = {split: draw(world[split], Random(f"statements 0 {split}")) for split in world}
    table: dict[tuple[object, ...], Counter[int]] = defaultdict(Counter)
    for one in made["train"]:
        table[what_is_seen(world["train"][one.scene], one)][one.label] += 1
    right: dict[str, list[bool]] = defaultdict(list)
    pictures: dict[int, Counter[int]] = defaultdict(Counter)
    for one in made["test"]:
        known = table.get(what_is_seen(world["test"][one.scene], one), Counter([0]))
        right[type(one.statement).__name__].append(known.most_common(1)[0][0] == one.label)
        pictures[one.scene][one.label] += 1
    print(f"picture only: {sum(max(labels.values()) for labels in pictures.values()) / len(made['test']):.1%}")
    print(f"what is seen: {sum(map(sum, right.values())) / len(made['test']):.1%}")
    for form, answers in right.items():
        print(f"  {form}: {sum(answers) / len(answers):.1%} of {len(answers):,}")


if __name__ == "__main__":
    main()
