"""Claims about DeepSeek-OCR-2 by transformers, with a tiny model of random weights."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

pytest.importorskip("torch.nn")  # not "torch": without it, this folder's own name would be found
transformers = pytest.importorskip("transformers")
if not hasattr(transformers, "DeepseekOcr2Config"):
    pytest.skip("this transformers has no DeepSeek-OCR-2", allow_module_level=True)

from PIL import Image, ImageDraw  # noqa: E402
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers  # noqa: E402

from penstock.engines.chat.client import Answer, ChatRequest  # noqa: E402
from penstock.engines.chat.deepseek import FIRST  # noqa: E402
from penstock.engines.chat.deepseek_hf import HfClient, HfModel  # noqa: E402
from penstock.errors import EngineError, MissingModel  # noqa: E402

SPECIAL = (
    "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<image>",
    "<|ref|>", "<|/ref|>", "<|det|>", "<|/det|>", "<|grounding|>",
)  # fmt: skip
VOCABULARY = 320  # 256 bytes and room for the special tokens


def tiny(folder: Path) -> Path:
    """Two layers each, 64 wide, 0.7 million weights; the tiles and the prompt are the real model's."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE(vocab={char: place for place, char in enumerate(alphabet)}, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.add_special_tokens([AddedToken(token, special=True) for token in SPECIAL])
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token=SPECIAL[0], eos_token=SPECIAL[1], pad_token=SPECIAL[1]
    )
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


def jpeg() -> bytes:
    picture = Image.new("RGB", (600, 800), "white")
    ImageDraw.Draw(picture).text((50, 50), "hello", fill="black")
    data = io.BytesIO()
    picture.save(data, "JPEG")
    return data.getvalue()


def test_a_page_is_read_and_a_bad_picture_costs_itself(tmp_path: Path) -> None:
    model = HfModel(str(tiny(tmp_path)))
    client = HfClient(model, FIRST)
    prompt = client.recogniser.prompt("page")
    good, bad = client.ask([ChatRequest(jpeg(), prompt, 12), ChatRequest(b"no picture", prompt, 12)])
    model.close()
    assert isinstance(good, Answer)
    # 257 tokens of the whole page, six tiles of 144 where it is larger than one, and the prompt
    assert good.prompt_tokens > 257 and 0 < good.completion_tokens <= 12
    assert good.finish_reason in ("stop", "length")
    assert isinstance(bad, EngineError)


def test_absent_weights_are_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(MissingModel, match="cannot be loaded"):
        HfModel(str(tmp_path / "nothing"))
