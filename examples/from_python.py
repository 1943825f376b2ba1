# %% [markdown]
"""Everything from Python, cell by cell: open it as a notebook, or run it. Half a minute on one core.

A corpus, a training in one line, its numbers as a table, vectors of texts and pictures, an index, a language taught.
"""

# %% Captions that a program has: drawings here, rows of a database elsewhere
import itertools
import tempfile
from pathlib import Path

import numpy as np
import pandas
from PIL import Image

import groundling

folder = Path(tempfile.mkdtemp(prefix="groundling-"))
colours = {"red": "rot", "green": "grün", "blue": "blau", "yellow": "gelb", "black": "schwarz", "white": "weiß"}
sizes = {"small": ("kleines", 20), "large": ("großes", 50)}
rows = []
for colour, size, split in itertools.product(colours, sizes, ("train", "dev", "test")):
    picture, name = Image.new("RGB", (64, 64), "grey"), f"{size}-{colour}-{split}.png"
    picture.paste(colour, (len(split), 5, len(split) + sizes[size][1], 5 + sizes[size][1]))
    picture.save(folder / name)
    rows.append({"picture": name, "language": "en", "text": f"a {size} {colour} square", "split": split})
corpus = groundling.Corpus.of(rows, folder, "squares")
print(corpus, corpus.frame().groupby("split").size(), sep="\n")

# %% Train and evaluate
training = {"maximum_steps": 150, "validate_every": 50, "batch_size": 12, "learning_rate": 0.01}
run = groundling.train(corpus=corpus, system="bag", out=folder / "run", features={"size": 64}, training=training)
result = groundling.evaluate(run)
print(result.frame().T.round(1))  # a pandas table: languages and metrics
print(f"Text→image R@1: {result.value('en', 'text_to_image.R@1'):.0f} % of 12")

# %% Vectors: of texts, and of pictures as files, bytes, Pillow images or arrays, one or many
model = groundling.Model.load(run)
pictures = [folder / "large-red-test.png", np.asarray(Image.open(folder / "large-blue-test.png"))]
cosines = model.encode_text(["a large red square", "a large blue square"]) @ model.encode_pictures(pictures).T
print(cosines.round(2))

# %% An index of pictures; what is found is a table as well
index = groundling.Index.build(folder, folder / "index", model=run)
print(pandas.DataFrame(index.search("a large red square", k=3, minus=["small"])))

# %% Teach it German, from pairs of sentences alone
phrases = {"{}": "{}", "see, {}": "sieh, {}", "oh, {}": "ah, {}", "here, {}": "hier, {}", "this is {}": "das ist {}"}
pairs = [
    (known.format(f"a {size} {colour} square"), new.format(f"ein {sizes[size][0]} Quadrat, {colours[colour]}"))
    for (known, new), size, colour in itertools.product(phrases.items(), sizes, colours)
]
taught = groundling.teach(run, "de", pairs, folder / "run+de", steps=100)
german = groundling.Index.open(folder / "index", model=str(taught.folder))  # the pictures' vectors are those of before
print(german.search("ein großes Quadrat, rot", k=1, language="de")[0].path)
