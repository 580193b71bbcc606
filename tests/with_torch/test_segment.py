"""The torch segmenters with small random weights: shapes, promises, and the whole recipe."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("torch.nn")  # not "torch": without it, this folder's own name would be found
transformers = pytest.importorskip("transformers")

import torch  # noqa: E402

from penstock.engines.segment.grounded import GroundedSegmenter, LabelTokens  # noqa: E402
from penstock.engines.segment.rfdetr import RfDetrSegmenter  # noqa: E402
from penstock.engines.segment.segmenter import FoundThing, SegmenterOptions, open_segmenter  # noqa: E402
from penstock.engines.segment.yoloe import YoloeSegmenter  # noqa: E402
from penstock.errors import MissingModel  # noqa: E402

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", ".", "sofa", "office", "chair", "table")


def pictures() -> list[np.ndarray]:
    random = np.random.default_rng(0)
    return [random.integers(0, 255, (h, w, 3)).astype(np.uint8) for h, w in ((120, 160), (200, 90))]


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[object, object, object]:
    torch.manual_seed(0)
    vocabulary = tmp_path_factory.mktemp("words") / "vocab.txt"
    vocabulary.write_text("\n".join(WORDS))
    tokenizer = transformers.BertTokenizer(str(vocabulary))
    return tokenizer, tiny_dino(), tiny_sam2()


def tiny_dino() -> object:
    backbone = transformers.SwinConfig(
        image_size=64, embed_dim=8, depths=[1, 1, 1, 1], num_heads=[1, 1, 1, 1], window_size=4,
        out_features=["stage2", "stage3", "stage4"],
    )  # fmt: skip
    text = transformers.BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=64,
    )  # fmt: skip
    config = transformers.GroundingDinoConfig(
        backbone_config=backbone, text_config=text, d_model=32, encoder_layers=1, decoder_layers=2,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16,
        num_queries=12, max_text_len=64, disable_custom_kernels=True,
    )  # fmt: skip
    return transformers.GroundingDinoForObjectDetection(config)


def tiny_sam2() -> object:
    config = transformers.Sam2Config(
        vision_config={
            "backbone_config": {
                "model_type": "sam2_hiera_det_model", "hidden_size": 8, "blocks_per_stage": [1, 1, 2, 1],
                "embed_dim_per_stage": [8, 16, 32, 64], "num_attention_heads_per_stage": [1, 1, 2, 2],
                "window_size_per_stage": [8, 4, 14, 7], "global_attention_blocks": [3],
            },
            "backbone_channel_list": [64, 32, 16, 8],
            "fpn_hidden_size": 32,
        },
        prompt_encoder_config={"hidden_size": 32},
        mask_decoder_config={
            "hidden_size": 32, "mlp_dim": 32, "num_attention_heads": 2, "iou_head_hidden_dim": 32,
        },
    )  # fmt: skip
    return transformers.Sam2Model(config)


def check(found: list[list[FoundThing]]) -> None:
    assert len(found) == 2
    for things, picture in zip(found, pictures(), strict=True):
        for thing in things:
            assert thing.mask.shape == picture.shape[:2]
            assert thing.mask.dtype == bool
            assert 0 <= thing.score <= 1


def test_grounding_dino_and_sam2_give_masks_of_each_photos_size(parts: tuple[object, object, object]) -> None:
    labels = ("sofa", "office chair", "table")
    segmenter = GroundedSegmenter(SegmenterOptions(labels, min_score=0.0, device="cpu"), parts)
    batched = segmenter.find(pictures())
    check(batched)
    assert sum(len(things) for things in batched) > 0
    assert {thing.label for things in batched for thing in things} <= set(labels)


def test_a_batch_finds_what_one_by_one_finds(parts: tuple[object, object, object]) -> None:
    grounded = GroundedSegmenter(SegmenterOptions(("sofa", "table"), min_score=0.0, device="cpu"), parts)
    closed = RfDetrSegmenter(SegmenterOptions(("chair", "couch"), min_score=0.0, device="cpu"), tiny_rfdetr())
    for segmenter, photos in ((grounded, pictures()[:1] * 2), (closed, pictures())):
        for together, picture in zip(segmenter.find(photos), photos, strict=True):
            [alone] = segmenter.find([picture])
            assert [thing.label for thing in together] == [thing.label for thing in alone]
            for one, other in zip(together, alone, strict=True):
                assert one.score == pytest.approx(other.score, abs=1e-4)
                assert (one.mask != other.mask).mean() < 0.01


def test_a_label_of_two_words_is_one_label(parts: tuple[object, object, object]) -> None:
    words = LabelTokens(parts[0], ("sofa", "office chair"))
    assert len(words.ids) == 1 + 2 + 3 + 1
    chance = np.zeros((1, len(words.ids)), np.float32)
    chance[0, 4] = 0.9  # "chair" of "office chair"
    assert words.scores(chance).tolist() == [[0.0, pytest.approx(0.9)]]


def test_nothing_sure_is_nothing_found(parts: tuple[object, object, object]) -> None:
    segmenter = GroundedSegmenter(SegmenterOptions(("sofa",), min_score=1.0, device="cpu"), parts)
    assert segmenter.find(pictures()) == [[], []]


def tiny_rfdetr() -> object:
    torch.manual_seed(0)
    config = transformers.RfDetrConfig(
        backbone_config={
            "model_type": "rf_detr_dinov2", "hidden_size": 24, "num_hidden_layers": 4,
            "num_attention_heads": 2, "image_size": 112, "patch_size": 14, "num_windows": 2,
            "window_block_indexes": [0, 2],
            "out_features": ["stage2", "stage4"],
        },
        d_model=32, decoder_layers=2, decoder_self_attention_heads=2, decoder_cross_attention_heads=2,
        decoder_ffn_dim=32, num_queries=10, group_detr=1, id2label={0: "chair", 1: "couch"},
    )  # fmt: skip
    return transformers.RfDetrForInstanceSegmentation(config)


def test_rf_detr_gives_masks_of_each_photos_size_and_only_wanted_things() -> None:
    def find(**wanted: object) -> list[list[FoundThing]]:
        return RfDetrSegmenter(SegmenterOptions(device="cpu", **wanted), tiny_rfdetr()).find(pictures())  # type: ignore[arg-type]

    found = find(labels=("chair", "couch"), min_score=0.0)
    check(found)
    assert sum(len(things) for things in found) > 0
    assert {thing.label for things in found for thing in things} <= {"chair", "couch"}
    couches = find(labels=("couch",), min_score=0.0)
    assert {thing.label for things in couches for thing in things} <= {"couch"}
    assert find(labels=("chair", "couch"), min_score=1.0) == [[], []]


def test_yoloe_results_are_read_as_ultralytics_gives_them() -> None:
    mask = torch.zeros(1, 120, 160)
    mask[0, 10:50, 20:90] = 1
    full = SimpleNamespace(
        masks=SimpleNamespace(data=mask),
        boxes=SimpleNamespace(
            xyxy=torch.tensor([[20.0, 10.0, 90.0, 50.0]]), conf=torch.tensor([0.7]), cls=torch.tensor([0.0])
        ),
        names={0: "sofa"},
    )
    asked: dict[str, object] = {}

    def predict(images: list[np.ndarray], **options: object) -> list[object]:
        asked.update(options)
        return [full, SimpleNamespace(masks=None)]

    found = YoloeSegmenter(SegmenterOptions(device="cpu"), SimpleNamespace(predict=predict)).find(pictures())
    assert [[thing.label for thing in things] for things in found] == [["sofa"], []]
    assert asked["retina_masks"] is True
    check(found)


def test_absent_weights_say_what_to_fetch(tmp_path: Path) -> None:
    for name in ("grounded", "rfdetr"):
        with pytest.raises(MissingModel, match="cannot be loaded"):
            open_segmenter(name, SegmenterOptions(model=str(tmp_path / "none"), device="cpu"))
    with pytest.raises(MissingModel, match=r"ultralytics|not there"):
        open_segmenter("yoloe", SegmenterOptions(model=str(tmp_path / "none.pt")))


def save(folder: Path, *things: object) -> Path:
    for thing in things:
        thing.save_pretrained(folder)  # type: ignore[attr-defined]
    return folder


@pytest.mark.parametrize("detector", ["grounded", "rfdetr"])
def test_real_models_drive_the_whole_recipe(
    detector: str, parts: tuple[object, object, object], tmp_path: Path
) -> None:
    pytest.importorskip("scipy")
    from PIL import Image

    from penstock.executors.inline import Inline
    from penstock.photo import Photo
    from penstock.recipes.photos import photos

    tokenizer, dino, sam = parts
    if detector == "grounded":
        model = f"{save(tmp_path / 'dino', tokenizer, dino)}+{save(tmp_path / 'sam', sam)}"
    else:
        model = str(save(tmp_path / "rfdetr", tiny_rfdetr()))
    for number, picture in enumerate(pictures()):
        Image.fromarray(picture).save(tmp_path / f"{number}.png")
    items = [
        Photo(id=f"p{n}", uri=str(tmp_path / f"{n}.png"), document=f"{n}.png", media="image")
        for n in range(2)
    ]
    labels = ("소파", "의자", "table")  # its words are sofa or couch, chair, table
    plan = photos(detector=detector, model=model, labels=labels, min_score=0.01, cores=1)
    got = list(Inline().stream(plan, items))
    assert [item.failure for item in got] == [None, None]
    things = [thing for item in got for thing in item.objects]
    assert things
    assert {thing.label for thing in things} <= set(labels)
    assert {thing.kind for thing in things} <= {"sofa", "chair", "table"}
    assert all(thing.finder == detector and thing.mask and thing.bbox_cbm for thing in things)
