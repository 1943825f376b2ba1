"""Words from characters: the masked normalisation against torch's own, padding, autocast, and words remembered."""

import threading

import pytest
import sized
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, leaky_relu

from groundling.encoders.text.bidirectional import Pooling
from groundling.encoders.text.characters import CharacterEncoder, CharacterSettings, LayeredWords, RecurrentWords
from groundling.encoders.text.masked_norm import MaskedBatchNorm
from groundling.encoders.text.word_memory import WordMemory

LENGTHS = torch.tensor([3, 1, 5])
REAL = torch.arange(5) < LENGTHS[:, None]
LONGEST = 4


def spellings(seed: int = 0, captions: int = 3, longest: int = 5) -> Tensor:
    """[captions, words, 4 characters]: words of one to four characters, padding words of none."""
    draw = torch.Generator().manual_seed(seed)
    sizes = torch.randint(1, LONGEST + 1, (captions, longest, 1), generator=draw)
    rows = torch.randint(1, 9, (captions, longest, LONGEST), generator=draw) * (torch.arange(LONGEST) < sizes)
    return (rows * REAL[:, :, None] if captions == len(REAL) else rows).int()


def encoder(kind: str, pooling: Pooling = "last") -> CharacterEncoder:
    torch.manual_seed(0)
    settings = CharacterSettings(word_dimensions=8, character_dimensions=6, layers=[10, 7], words=kind, pooling=pooling)
    made = CharacterEncoder(sized.characters(9, LONGEST), 12, settings)
    if kind == "layers":  # statistics as training leaves them, not zeros and ones
        with torch.no_grad():
            for _ in range(3):
                made(spellings(), LENGTHS)
    return made.eval()


KINDS = ["layers", "charGRU"]


def test_masked_normalisation_is_batch_normalisation_of_the_real_entries() -> None:
    torch.manual_seed(0)
    ours, theirs = MaskedBatchNorm(7), nn.BatchNorm1d(7)
    with torch.no_grad():
        for mine, other in ((ours.weight, theirs.weight), (ours.bias, theirs.bias)):
            other.copy_(mine.copy_(torch.randn(7)))
    for _ in range(4):
        values = 3 * torch.randn(3, 5, 7) + 1
        one, other = values.clone().requires_grad_(), values.clone().requires_grad_()
        target = torch.randn(int(REAL.sum()), 7)
        found, expected = ours(one, REAL)[REAL], theirs(other[REAL])
        assert torch.allclose(found, expected, atol=1e-5)
        (found * target).sum().backward()
        (expected * target).sum().backward()
        assert one.grad is not None
        assert torch.allclose(one.grad, other.grad, atol=1e-5)  # type: ignore[arg-type]
        assert torch.allclose(ours.weight.grad, theirs.weight.grad, atol=1e-4)  # type: ignore[arg-type]
        assert torch.allclose(ours.running_mean, theirs.running_mean, atol=1e-6)  # type: ignore[arg-type]
        assert torch.allclose(ours.running_variance, theirs.running_var, atol=1e-6)  # type: ignore[arg-type]
    ours.eval(), theirs.eval()
    assert torch.allclose(ours(values, REAL)[REAL], theirs(values[REAL]), atol=1e-5)


def test_padding_has_no_say_in_the_statistics() -> None:
    torch.manual_seed(0)
    values, one, other = torch.randn(3, 5, 7), MaskedBatchNorm(7), MaskedBatchNorm(7)
    spoiled = torch.where(REAL[:, :, None], values, torch.full_like(values, 1e4))
    assert torch.equal(one(values, REAL)[REAL], other(spoiled, REAL)[REAL])
    assert torch.equal(one.running_variance, other.running_variance)


def test_evaluation_leaves_the_statistics_alone_and_one_entry_does_no_harm() -> None:
    norm = MaskedBatchNorm(2).eval()
    norm(torch.randn(3, 5, 2), REAL)
    assert norm.running_mean.tolist() == [0, 0]
    norm.train()
    found = norm(torch.tensor([[3.0, 4.0]]), torch.tensor([True]))
    assert found.tolist() == [[0, 0]]
    assert torch.isfinite(norm.running_variance).all()


def test_statistics_are_float32_under_autocast() -> None:
    """1000 + noise: in bf16 the differences would be lost, and the variance would be that of the rounding."""
    torch.manual_seed(0)
    values, norm = 1000 + torch.randn(200, 2), MaskedBatchNorm(2)
    with torch.autocast("cpu", torch.bfloat16):
        found = norm(values, torch.ones(200, dtype=torch.bool))
    assert found.dtype == torch.float32
    assert torch.allclose(found, (values - values.mean(0)) / (values.var(0, correction=0) + 1e-5).sqrt(), atol=1e-3)
    half = MaskedBatchNorm(2)(values.bfloat16(), torch.ones(200, dtype=torch.bool))
    assert half.dtype == torch.float32


def test_renormalised_entries_are_in_training_what_they_are_later() -> None:
    """Two kinds of batches, as of two languages: plain normalisation treats each by its own mean, and later by none."""
    torch.manual_seed(0)
    everything = torch.ones(400, dtype=torch.bool)
    kinds = [torch.randn(400, 3) - 1, torch.randn(400, 3) + 1]
    apart = {}
    for renormalise in (False, True):
        norm = MaskedBatchNorm(3, renormalise=renormalise)
        for step in range(1200):
            trained = norm(kinds[step % 2], everything)
        before = MaskedBatchNorm(3).eval()
        before.load_state_dict({key: value for key, value in norm.state_dict().items() if key != "steps"})
        apart[renormalise] = float((trained - before(kinds[1], everything)).detach().abs().max())
    assert apart[False] > 0.5
    assert apart[True] < 0.2  # one more batch has moved the running statistics since


def test_renormalisation_starts_as_plain_normalisation_and_is_bounded() -> None:
    torch.manual_seed(0)
    values, real = 100 + 50 * torch.randn(64, 2), torch.ones(64, dtype=torch.bool)
    plain, ours = MaskedBatchNorm(2), MaskedBatchNorm(2, renormalise=True)
    assert torch.allclose(plain(values, real), ours(values, real))
    with torch.no_grad():
        ours.steps.fill_(10_000)
        ours.running_mean.zero_()
        ours.running_variance.fill_(1)
    normal = (values - values.mean(0)) / values.var(0, correction=0).sqrt()
    assert torch.allclose(
        ours(values, real), 3 * normal + 5, atol=1e-3
    )  # and not the 50·normal + 100 that was asked for


def test_gradients_flow_through_the_statistics_of_the_batch() -> None:
    """Corrections are constants: with none allowed, the gradient is that of plain normalisation."""
    torch.manual_seed(0)
    values, real, target = torch.randn(16, 2), torch.ones(16, dtype=torch.bool), torch.randn(16, 2)
    found = []
    for renormalise in (False, True):
        leaf = values.clone().requires_grad_()
        (MaskedBatchNorm(2, renormalise=renormalise)(leaf, real) * target).sum().backward()
        found.append(leaf.grad)
    assert torch.allclose(found[0], found[1], atol=1e-6)  # type: ignore[arg-type]


def test_a_word_is_the_layers_over_its_characters_side_by_side() -> None:
    made = encoder("layers").words
    assert isinstance(made, LayeredWords)
    word = torch.tensor([5, 2, 0, 0])
    table = made.characters.weight
    values = torch.cat([table[5], table[2], torch.zeros(12)])
    for linear, norm in zip(made.maps, made.norms, strict=True):
        assert isinstance(norm, MaskedBatchNorm)
        direction, size = linear.parametrizations.weight.original1, linear.parametrizations.weight.original0
        values = size[:, 0] * ((direction @ values) / direction.norm(dim=1))  # w = g·v/‖v‖
        values = (values - norm.running_mean) / (norm.running_variance + 1e-5).sqrt() * norm.weight + norm.bias
        values = leaky_relu(values, 0.1)
    assert torch.allclose(made(word[None], torch.tensor([True]))[0], values, atol=1e-5)


def test_char_gru_is_the_state_at_the_last_character() -> None:
    made = encoder("charGRU").words
    assert isinstance(made, RecurrentWords)
    words = spellings()
    found = made(words, REAL)
    for caption, word in REAL.nonzero().tolist():
        letters = words[caption, word][words[caption, word] != 0]
        _, last = made.recurrent(made.characters(letters)[None])
        assert torch.allclose(found[caption, word], last[0, 0], atol=1e-6)


@pytest.mark.parametrize(
    ("layers", "published", "reduction"),
    [
        ([128, 256], 0.2, 46),
        ([128, 384], 0.2, 36),
        ([256, 256], 0.3, 29),
        ([128, 512], 0.3, 29),
        ([384, 384], 0.5, 18),
        ([512, 512], 0.7, 12),
        ([1024, 512], 1.3, 7),
        (None, 0.3, 30),  # charGRU
    ],
)
def test_parameters_as_in_table_1(layers: list[int] | None, published: float, reduction: int) -> None:
    """With the 101 symbols of the released alphabet, against 9.0 million of the word table."""
    words = RecurrentWords(101, 24, 300) if layers is None else LayeredWords(101, 24, layers, 300, 26)
    count = sum(parameter.numel() for parameter in words.parameters())
    assert round(count / 1e6, 1) == published
    assert round(9e6 / count) == pytest.approx(reduction, abs=1)


@pytest.mark.parametrize("pooling", ["last", "ends"])
@pytest.mark.parametrize("kind", KINDS)
def test_padding_company_and_order_do_not_change_a_sentence(kind: str, pooling: Pooling) -> None:
    made, words = encoder(kind, pooling), spellings()
    together = made(words, LENGTHS)
    longer = made(torch.cat([words, torch.zeros(3, 15, LONGEST, dtype=torch.int32)], dim=1), LENGTHS)
    alone = torch.cat([made(words[row : row + 1, : LENGTHS[row]], LENGTHS[row : row + 1]) for row in range(3)])
    order = torch.tensor([2, 0, 1])
    assert torch.allclose(together, longer, atol=1e-6)
    assert torch.allclose(together, alone, atol=1e-6)
    assert torch.allclose(together[order], made(words[order], LENGTHS[order]), atol=1e-6)
    assert torch.allclose(together.norm(dim=1), torch.ones(3))


def test_in_training_too_padding_changes_nothing() -> None:
    words = spellings()
    found = []
    for extra in (0, 15):
        made = encoder("layers").train()
        padded = torch.cat([words, torch.zeros(3, extra, LONGEST, dtype=torch.int32)], dim=1)
        found.append((made(padded, LENGTHS), made.words.norms[0].running_mean.clone()))  # type: ignore[union-attr]
    assert torch.allclose(found[0][0], found[1][0], atol=1e-5)
    assert torch.allclose(found[0][1], found[1][1], atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_every_weight_learns_but_the_vector_of_no_character(kind: str) -> None:
    made = encoder(kind).train()
    made(spellings(), LENGTHS)[:, 0].sum().backward()
    for name, parameter in made.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.any(), name
    assert not made.words.characters.weight.grad[0].any()  # type: ignore[index]
    assert not made.words.characters.weight[0].any()


@pytest.mark.parametrize("kind", KINDS)
def test_words_spelled_once_give_the_same_sentences(kind: str) -> None:
    made, words = encoder(kind), spellings()
    table, ids = words.reshape(-1, LONGEST).unique(dim=0, return_inverse=True)
    read = made.sentences(embedding(ids.reshape(3, 5), made.spell(table)), LENGTHS)
    assert torch.allclose(read, made(words, LENGTHS), atol=1e-6)


def counting(made: CharacterEncoder) -> tuple[list[int], WordMemory]:
    asked: list[int] = []

    def spell(rows: Tensor) -> Tensor:
        asked.append(len(rows))
        with torch.inference_mode():
            return made.spell(rows)

    return asked, WordMemory(spell, capacity=20)


@pytest.mark.parametrize("kind", KINDS)
def test_a_word_is_spelled_out_once_and_comes_out_the_same(kind: str) -> None:
    made = encoder(kind)
    asked, memory = counting(made)
    words = spellings(3, captions=4).reshape(-1, LONGEST).unique(dim=0)
    for part in (words[:5], words[3:9], words[:9].flip(0), words[:0]):
        assert torch.allclose(memory(part), made.spell(part), atol=1e-6) if len(part) else len(memory(part)) == 0
    assert asked == [5, 4]


def test_words_that_are_spelled_alike() -> None:
    made = encoder("layers")
    asked, memory = counting(made)
    words = torch.tensor([[1, 0, 0, 0], [2, 0, 0, 0], [1, 0, 0, 0], [3, 0, 0, 0]], dtype=torch.int32)
    for part in (words, words + words.clamp(max=1) * 3, words):
        assert torch.allclose(memory(part), made.spell(part), atol=1e-6)
    assert asked == [3, 3]


def test_memory_is_bounded_and_starts_over_when_full() -> None:
    made = encoder("layers")
    asked, memory = counting(made)
    words = torch.arange(1, 26)[:, None].expand(-1, LONGEST).remainder(8).add(1).int().clone()
    words[:, 1:] = torch.arange(25)[:, None].remainder(5).add(1)
    words = words.unique(dim=0)
    assert len(words) == 25
    for part, new in ((words[:15], 15), (words[10:20], 5), (words[18:25], 7), (words[:15], 15), (words, 25)):
        assert torch.allclose(memory(part), made.spell(part), atol=1e-6)
        assert asked[-1] == new
        assert len(memory.rows) <= 20
        assert len(memory.table) == 20


def test_threads_share_the_memory() -> None:
    made = encoder("layers")
    _, memory = counting(made)
    words = spellings(1, captions=4).reshape(-1, LONGEST).unique(dim=0)
    expected, wrong = made.spell(words), []

    def ask(seed: int) -> None:
        draw = torch.Generator().manual_seed(seed)
        for _ in range(40):
            chosen = torch.randint(len(words), (12,), generator=draw)
            wrong.append(not torch.allclose(memory(words[chosen]), expected[chosen], atol=1e-6))

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [False] * 120
