"""Cells of a grid with the sentence in mind: against a slow twin, and what may and may not matter."""

import torch

from groundling.encoders.picture.grid import GridEncoder, GridEntailmentHead, GridSettings

CELLS, SEEN, SAID = 4, 3, 5


def made() -> GridEntailmentHead:
    torch.manual_seed(0)
    return GridEntailmentHead(SAID, CELLS, SEEN, questions=2, answers=3, hidden=6).eval()


def test_each_question_is_asked_of_each_cell() -> None:
    head = made()
    sentences, pictures = torch.randn(2, SAID), torch.randn(2, CELLS * SEEN)
    expected = []
    with torch.no_grad():
        for sentence, picture in zip(sentences, pictures, strict=True):
            h = head.norm((sentence / sentence.norm())[None])[0]
            joined = h.tolist()
            for cell in picture.split(SEEN):
                for number in range(2):
                    part = slice(number * SEEN, (number + 1) * SEEN)
                    asked = (cell * head.ask(h)[part] + head.shift(h)[part]).clamp(min=0)
                    joined += head.answer(asked).clamp(min=0).tolist()
            expected.append(head.layers(torch.tensor([joined]))[0])
        assert torch.allclose(head(sentences, pictures), torch.stack(expected), atol=1e-6)


def test_where_a_thing_lies_matters_to_the_prediction_and_not_to_how_it_is_read() -> None:
    torch.manual_seed(0)
    encoder = GridEncoder(CELLS * 7, SAID, GridSettings(cells=CELLS, cell_dimensions=SEEN)).eval()
    features = torch.randn(1, CELLS, 7)
    moved = features[:, [2, 0, 1, 3]]
    seen = encoder(features.flatten(1)).unflatten(1, (CELLS, SEEN))
    assert torch.allclose(encoder(moved.flatten(1)).unflatten(1, (CELLS, SEEN)), seen[:, [2, 0, 1, 3]], atol=1e-6)
    sentence, head = torch.randn(1, SAID), made()
    assert not torch.allclose(head(sentence, seen.flatten(1)), head(sentence, seen[:, [2, 0, 1, 3]].flatten(1)))


def test_gradients_reach_sentence_and_cells() -> None:
    head = made().train()
    sentences = torch.randn(6, SAID, requires_grad=True)
    pictures = torch.randn(6, CELLS * SEEN, requires_grad=True)
    head(sentences, pictures)[:, 0].square().sum().backward()
    assert sentences.grad is not None and sentences.grad.abs().sum() > 0
    assert pictures.grad is not None and pictures.grad.abs().sum() > 0
