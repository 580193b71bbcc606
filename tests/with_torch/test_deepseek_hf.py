"""Claims about DeepSeek-OCR models by transformers, with tiny models of random weights.

The second is the real class. The first has none in transformers, so a stand-in obeys the contract of its
authors' code: `infer` with their parameters, their counts of tokens, and their call of `generate`.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch.nn")  # not "torch": without it, this folder's own name would be found
transformers = pytest.importorskip("transformers")
if not hasattr(transformers, "DeepseekOcr2Config"):
    pytest.skip("this transformers has no DeepSeek-OCR-2", allow_module_level=True)

from PIL import Image, ImageDraw  # noqa: E402
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers  # noqa: E402

from penstock.engines.chat.client import Answer, ChatRequest  # noqa: E402
from penstock.engines.chat.deepseek.hf import HfClient, open_reader  # noqa: E402
from penstock.engines.chat.deepseek.native import NativeReader  # noqa: E402
from penstock.engines.chat.deepseek.pages import FIRST, NgramGuard  # noqa: E402
from penstock.engines.chat.deepseek.prompts import MARKDOWN  # noqa: E402
from penstock.engines.chat.deepseek.remote import RemoteCodeReader  # noqa: E402
from penstock.engines.chat.deepseek.resolution import resolution  # noqa: E402
from penstock.errors import EngineError, MissingModel, OpenError  # noqa: E402
from penstock.workers.ground import GroundWorker  # noqa: E402

SPECIAL = (
    "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<image>",
    "<|ref|>", "<|/ref|>", "<|det|>", "<|/det|>", "<|grounding|>",
)  # fmt: skip
VOCABULARY = 320  # 256 bytes and room for the special tokens


def words() -> Any:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE(vocab={char: place for place, char in enumerate(alphabet)}, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.add_special_tokens([AddedToken(token, special=True) for token in SPECIAL])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token=SPECIAL[0], eos_token=SPECIAL[1], pad_token=SPECIAL[1]
    )


def tiny(folder: Path) -> Path:
    """Two layers each, 64 wide, 0.7 million weights; the tiles and the prompt are the real model's."""
    tokenizer = words()
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2, "vocab_size": VOCABULARY}
    sam = {
        "hidden_size": 64, "output_channels": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
        "global_attn_indexes": [1], "mlp_dim": 128, "downsample_channels": [48, 64],
    }  # fmt: skip
    encoder = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 1, **heads}
    text = {
        "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "max_position_embeddings": 8192,
        "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64, "n_shared_experts": 1,
        "n_group": 1, "topk_group": 1, "mlp_layer_types": ["dense", "sparse"], **heads,
    }  # fmt: skip
    config = transformers.DeepseekOcr2Config(
        vision_config={"sam_config": sam, "encoder_config": encoder},
        text_config=text,
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
    )
    network = transformers.DeepseekOcr2ForConditionalGeneration(config)
    network.generation_config.eos_token_id = network.generation_config.pad_token_id = tokenizer.eos_token_id
    network.save_pretrained(folder)
    transformers.DeepseekOcr2Processor(transformers.DeepseekOcr2ImageProcessor(), tokenizer).save_pretrained(
        folder
    )
    return folder


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny(tmp_path_factory.mktemp("second"))


def jpeg(width: int = 600, height: int = 800) -> bytes:
    picture = Image.new("RGB", (width, height), "white")
    ImageDraw.Draw(picture).text((50, 50), "hello", fill="black")
    data = io.BytesIO()
    picture.save(data, "JPEG")
    return data.getvalue()


def test_a_page_is_read_and_a_bad_picture_costs_itself(second: Path) -> None:
    reader = open_reader("deepseek-ocr-2", str(second), "gundam")
    client = HfClient(reader, "deepseek-ocr-2", FIRST)
    good, bad = client.ask([ChatRequest(jpeg(), MARKDOWN, 12), ChatRequest(b"no picture", MARKDOWN, 12)])
    reader.close()
    assert isinstance(good, Answer)
    # 257 tokens of the whole page, six tiles of 144 where it is larger than one, and the prompt
    assert good.prompt_tokens > 257 and 0 < good.completion_tokens <= 12
    assert good.finish_reason in ("stop", "length")
    assert isinstance(bad, EngineError)


def test_each_resolution_of_the_second_model_has_its_tokens(second: Path) -> None:
    """As its paper has them: 256 for a view of 1024, 144 for one of 768 and for each tile, one between."""
    shown = {}
    for name in ("gundam", "base", "768", "768+768"):
        reader = NativeReader(str(second), resolution(name, "deepseek-ocr-2"))
        shown[name] = reader.read(jpeg(), MARKDOWN, 1, FIRST).prompt_tokens
        reader.close()
    words = shown["base"] - 257
    assert 0 < words < 80
    counts = {name: tokens - words for name, tokens in shown.items()}
    assert counts == {"gundam": 257 + 6 * 144, "base": 257, "768": 145, "768+768": 145 + 6 * 144}


def test_the_guard_forbids_what_it_forbids_at_a_server(second: Path) -> None:
    reader = NativeReader(str(second))
    written: list[list[int]] = []
    plain = reader._network.generate

    def overheard(**settings: Any) -> Any:
        output = plain(**settings)
        written.append(output[0, settings["input_ids"].shape[1] :].tolist())
        return output

    reader._network.generate = overheard
    reader._network.lm_head.weight.data.zero_()  # all tokens are alike, so the first that is allowed is next
    off, once = NgramGuard("off", 0, 1), NgramGuard("once", 1, 100, keep=())
    for guard in (off, once, NgramGuard("all kept", 1, 100, keep=tuple(range(VOCABULARY)))):
        reader.read(jpeg(300, 300), MARKDOWN, 16, guard)
    reader.close()
    free, never_twice, kept = written
    assert free == kept == [0] * 16
    assert never_twice == list(range(16))


def test_the_guard_is_vllms_own() -> None:
    """Where vLLM is installed: the same tokens are forbidden after thousands of made-up answers."""
    theirs = pytest.importorskip("vllm.model_executor.models.deepseek_ocr").NoRepeatNGramLogitsProcessor
    import torch

    dice, bans = random.Random(5), 0
    for _ in range(2_000):
        ngram, alike = dice.randint(2, 8), dice.choice((2, 3, 6))
        window, keep = dice.randint(ngram, 40), tuple(dice.sample(range(6), dice.randint(0, 3)))
        written = [dice.randrange(alike) for _ in range(dice.randint(0, 80))]
        left = theirs(ngram, window, set(keep))(list(written), torch.zeros(6))
        forbidden = NgramGuard("ours", ngram, window, keep=keep).forbidden(written)
        assert forbidden == {token for token, score in enumerate(left.tolist()) if score < 0}
        bans += bool(forbidden)
    assert bans > 200


def test_absent_weights_are_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(MissingModel, match="cannot be loaded"):
        NativeReader(str(tmp_path / "nothing"))


STAND_IN = """
import math, os
import torch
from PIL import Image
from transformers import LlamaConfig, LlamaForCausalLM

class DeepseekOCRConfig(LlamaConfig):
    model_type = "DeepseekOCR"

class DeepseekOCRForCausalLM(LlamaForCausalLM):
    config_class = DeepseekOCRConfig

    def infer(self, tokenizer, prompt="", image_file="", output_path="", base_size=1024, image_size=640,
              crop_mode=True, test_compress=False, save_results=False, eval_mode=False):
        os.makedirs(f"{output_path}/images", exist_ok=True)
        with Image.open(image_file) as picture:
            width, height = picture.size
        self.asked = (prompt, base_size, image_size, crop_mode, eval_mode)
        print("BASE: ", torch.Size([1, 256, 1280]))
        side = math.ceil(((base_size if crop_mode else image_size) // 16) / 4)
        tokens = side * (side + 1) + 1
        if crop_mode:
            assert max(width, height) > 640, "images_crop_list[0]: list index out of range"
            tokens += 30 * 21  # two by three tiles
        ids = [0] + [tokenizer.convert_tokens_to_ids("<image>")] * tokens
        ids += tokenizer.encode(prompt.split("<image>")[1])
        ids = torch.tensor([ids])
        output = self.generate(ids, eos_token_id=tokenizer.eos_token_id, max_new_tokens=8192,
                               no_repeat_ngram_size=35, use_cache=True)
        return tokenizer.decode(output[0, ids.shape[1]:]).strip() if eval_mode else None
"""
BROKEN = "from transformers.models.llama.modeling_llama import LlamaFlashAttention2\n"


def stand_in(folder: Path, code: str) -> Path:
    tokenizer = words()
    tokenizer.save_pretrained(folder)
    sizes = {
        "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2,
        "num_key_value_heads": 2, "vocab_size": VOCABULARY, "max_position_embeddings": 8192,
        "bos_token_id": 0, "eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.eos_token_id,
    }  # fmt: skip
    network = transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes))
    network.lm_head.weight.data.zero_()  # all tokens are alike, so the first that is allowed is next: a "!"
    network.save_pretrained(folder)
    home = "modeling_deepseekocr"
    auto = {"AutoConfig": f"{home}.DeepseekOCRConfig", "AutoModel": f"{home}.DeepseekOCRForCausalLM"}
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "DeepseekOCR", "auto_map": auto}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / f"{home}.py").write_text(code)
    return folder


@pytest.fixture
def first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the stand-in may lie; transformers copies its code, and not into the user's home."""
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    yield tmp_path / "first"


@pytest.mark.parametrize(
    ("name", "size", "asked", "tokens"),
    [
        ("gundam", (600, 800), (1024, 640, True), 273 + 630),
        ("gundam", (300, 200), (1024, 1024, False), 273),  # nothing to cut into tiles
        ("tiny", (600, 800), (512, 512, False), 73),
        ("small", (600, 800), (640, 640, False), 111),
        ("base", (600, 800), (1024, 1024, False), 273),
        ("large", (600, 800), (1280, 1280, False), 421),
    ],
)
def test_the_authors_code_is_asked_for_each_resolution(
    first: Path, name: str, size: tuple[int, int], asked: tuple[int, int, bool], tokens: int,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    shown = resolution(name, "deepseek-ocr")
    reader = RemoteCodeReader(str(stand_in(first, STAND_IN)), shown, device="cpu")
    answer = reader.read(jpeg(*size), "Free OCR.", 9, FIRST)
    assert reader._network.asked == ("<image>\nFree OCR.", *asked, True)
    reader.close()
    assert answer.prompt_tokens == 1 + tokens + len("\nFree OCR.")  # a token a letter
    assert (answer.text, answer.completion_tokens, answer.finish_reason) == ("!" * 9, 9, "length")
    assert capsys.readouterr().out == ""


def test_our_guard_replaces_that_of_the_authors_code(first: Path) -> None:
    reader = RemoteCodeReader(str(stand_in(first, STAND_IN)), device="cpu")
    off = reader.read(jpeg(300, 300), "Free OCR.", 40, NgramGuard("off", 0, 1))
    on = reader.read(jpeg(300, 300), "Free OCR.", 40, NgramGuard("once", 1, 100, keep=()))
    with pytest.raises(EngineError, match="cannot be decoded"):
        reader.read(b"no picture", "Free OCR.", 40, FIRST)
    assert off.text == "!" * 40
    assert len(set(on.text)) == len(on.text) == 40, "no letter twice"
    assert "generate" not in vars(reader._network), "the network is left as it was"
    reader.close()


def test_code_for_another_transformers_is_a_sentence(first: Path) -> None:
    with pytest.raises(MissingModel, match=r"does not load with transformers 5.*4\.46\.3"):
        RemoteCodeReader(str(stand_in(first, BROKEN + STAND_IN)), device="cpu")


def test_the_authors_code_wants_a_gpu(first: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has one")
    with pytest.raises(OpenError, match="NVIDIA GPU only"):
        RemoteCodeReader(str(first))


def test_the_stage_reads_with_either_model(second: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole stage with the second; which reader opens for the first is told by its refusal."""
    from penstock.page import Page
    from penstock.stages.ground import Ground

    page = Page(id="one", document="d", part=0, uri="", image=jpeg(), width=600, height=800)
    stage = Ground(
        recogniser="deepseek-ocr-2", engine="hf", model=str(second), resolution="768", max_tokens=8,
        prompt="Describe this image in detail.",
    )  # fmt: skip
    worker = GroundWorker(stage)
    [read] = worker([page])
    worker.close()
    assert read.attempts[0].prompt_tokens < 145 + 80
    assert all(attempt.completion_tokens <= 8 for attempt in read.attempts)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(OpenError, match="authors"):
        GroundWorker(Ground(engine="hf", trust_remote_code=True))
