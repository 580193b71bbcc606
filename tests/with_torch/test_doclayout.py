"""PP-DocLayoutV3 with small random weights: our arithmetic beside the plain model's, and promises."""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import cv2
import numpy as np
import pytest

from tests.support import reference_layout_post as reference

pytest.importorskip("torch.nn")  # not "torch": without it, this folder's own name would be found
transformers = pytest.importorskip("transformers")

import torch  # noqa: E402

from penstock.engines.layout import doclayout  # noqa: E402
from penstock.engines.layout.doclayout import DocLayoutEngine, FixedBatch  # noqa: E402
from penstock.engines.layout.doclayout_input import PageInput, scale  # noqa: E402
from penstock.engines.layout.doclayout_net import LayoutNet, Output, mask_boxes, masks_of, places  # noqa: E402
from penstock.errors import BadInput, MissingModel, OpenError  # noqa: E402
from penstock.page import Page  # noqa: E402
from penstock.recipes import build  # noqa: E402
from penstock.region import LABELS, Region  # noqa: E402

SIDE = 160


def small_config(**changes: object) -> object:
    backbone = {
        "model_type": "hgnet_v2",
        "stem_channels": [3, 8, 8],
        "stage_in_channels": [8, 16, 32, 48],
        "stage_mid_channels": [8, 8, 16, 16],
        "stage_out_channels": [16, 32, 48, 64],
        "hidden_sizes": [16, 32, 48, 64],
        "stage_num_blocks": [1, 1, 2, 1],
        "stage_numb_of_layers": [2, 2, 2, 2],
        "out_features": ["stage1", "stage2", "stage3", "stage4"],
    }
    settings: dict[str, object] = {
        "id2label": dict(enumerate(LABELS)),
        "num_queries": 40,
        "d_model": 32,
        "encoder_hidden_dim": 32,
        "decoder_in_channels": [32, 32, 32],
        "encoder_in_channels": [32, 48, 64],
        "encoder_ffn_dim": 64,
        "decoder_ffn_dim": 64,
        "x4_feat_dim": 16,
        "mask_feature_channels": [16, 16],
        "num_prototypes": 8,
        "decoder_layers": 3,
        "backbone_config": backbone,
    }
    return transformers.PPDocLayoutV3Config(**(settings | changes))


def lively(model: object) -> object:
    """Weights that keep signals at about 1: the library's own start lets them fade to nothing."""
    dice = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for module in model.modules():
            if type(module).__name__.endswith("BatchNorm2d"):
                for tensor in (module.weight, module.running_var):
                    tensor.copy_(torch.rand(tensor.shape, generator=dice) + 0.5)
                for tensor in (module.bias, module.running_mean):
                    tensor.copy_(torch.rand(tensor.shape, generator=dice) * 0.6 - 0.3)
            elif isinstance(module, torch.nn.Linear | torch.nn.Conv2d):
                fan_in = module.weight[0].numel()
                module.weight.copy_(torch.randn(module.weight.shape, generator=dice) * (1.2 / fan_in**0.5))
                if module.bias is not None:
                    module.bias.copy_(torch.randn(module.bias.shape, generator=dice) * 0.1)
    return model.eval()


@pytest.fixture(scope="module")
def model() -> object:
    torch.manual_seed(0)
    return lively(transformers.PPDocLayoutV3ForObjectDetection(small_config()))


@pytest.fixture(scope="module")
def checkpoint(model: object, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoint")
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def layout(checkpoint: Path) -> Iterator[DocLayoutEngine]:
    engine = DocLayoutEngine(str(checkpoint), device="cpu", batch=2, polygons=True)
    yield engine
    engine.close()


def net_of(model: object, dtype: object = torch.float32) -> LayoutNet:
    return LayoutNet(copy.deepcopy(model), SIDE, "cpu", dtype)


@contextmanager
def last_state(model: object) -> Iterator[list[object]]:
    """The plain model's queries after its last layer, before their norm: the last of the list."""
    seen: list[object] = []
    handle = model.model.decoder_norm.register_forward_pre_hook(lambda norm, given: seen.append(given[0]))
    try:
        yield seen
    finally:
        handle.remove()


def pairs_of(model: object, queries: object) -> object:
    """What the plain model's heads say of every pair, also of those that it masks itself."""
    pointer = model.model.decoder_global_pointer
    told = pointer.dense(model.model.decoder_order_head[-1](queries))
    first, second = told.unflatten(-1, (2, -1)).unbind(-2)
    return first @ second.transpose(-2, -1) / pointer.head_size**0.5


def page(seed: int, width: int = 310, height: int = 440) -> np.ndarray:
    dice = np.random.default_rng(seed)
    coarse = dice.integers(0, 256, (height // 8, width // 8, 3), dtype=np.uint8)
    return cv2.resize(coarse, (width, height), interpolation=cv2.INTER_LINEAR)


def test_rows_equal_the_plain_model(model: object) -> None:
    pixels = torch.rand(2, 3, SIDE, SIDE, generator=torch.Generator().manual_seed(3))
    with torch.inference_mode(), last_state(model) as states:
        plain, ours = model(pixels), net_of(model)(pixels)
        order = places(pairs_of(model, states[-1]))
        library = pairs_of(model, model.model.decoder_norm(states[-1]))
    scores, index = torch.sigmoid(plain.logits).flatten(1).topk(plain.logits.shape[1])
    assert torch.allclose(ours.rows[..., 0], scores, atol=1e-4)
    query = ours.rows[..., 2].long()
    assert torch.equal(query, index // len(LABELS))
    assert torch.equal(ours.rows[..., 1].long(), index % len(LABELS))
    middle, size = plain.pred_boxes[..., :2], plain.pred_boxes[..., 2:]
    corners = torch.cat([middle - size / 2, middle + size / 2], -1).gather(
        1, query[..., None].expand(-1, -1, 4)
    )
    assert torch.allclose(ours.rows[..., 4:], corners, atol=1e-4)
    assert torch.equal(ours.rows[..., 3].long(), order.gather(1, query))
    above = torch.ones_like(library).triu(1).bool()
    assert torch.allclose(library[above], plain.order_logits[above], atol=1e-3), "pairs made otherwise"
    assert corners.std() > 0.05, "weights so tame that the test would not notice"


def test_masks_equal_the_plain_model(model: object) -> None:
    pixels = torch.rand(1, 3, SIDE, SIDE, generator=torch.Generator().manual_seed(4))
    with torch.inference_mode():
        plain, ours = model(pixels), net_of(model)(pixels)
    masks = masks_of(ours, 0, [7, 0, 39], threshold=0.3)
    expected = (plain.out_masks[0, [7, 0, 39]].sigmoid() > 0.3).numpy()
    assert masks.shape == expected.shape
    assert (masks != expected).mean() < 1e-3  # pixels whose logit is at the threshold to the last digit


@pytest.mark.filterwarnings(
    "ignore:mkldnn_matmul failed"
)  # of a processor without bfloat16, which is slow and right
def test_half_precision_gives_float32_rows_and_boxes_finer_than_bfloat16(model: object) -> None:
    pixels = torch.rand(1, 3, SIDE, SIDE, generator=torch.Generator().manual_seed(5))
    with torch.inference_mode():
        output = net_of(model, torch.bfloat16)(pixels.to(torch.bfloat16))
    rows = output.rows.cpu().numpy()  # numpy has no bfloat16: this is where a cast forgotten would crash
    assert rows.dtype == np.float32
    boxes = output.rows[..., 4:]
    assert not torch.equal(boxes, boxes.to(torch.bfloat16).float())
    assert masks_of(output, 0, [0, 1], 0.3).shape == (2, SIDE // 4, SIDE // 4)


def test_reading_order_is_by_votes() -> None:
    logits = torch.randn(2, 9, 9, generator=torch.Generator().manual_seed(6)) * 3
    assert places(logits).tolist() == [reference.votes_order(one.tolist()) for one in logits]


def test_the_numbers_of_queries_do_not_change_their_order() -> None:
    dice = torch.Generator().manual_seed(7)
    logits, mixed = torch.randn(1, 40, 40, generator=dice) * 3, torch.randperm(40, generator=dice)
    assert torch.equal(places(logits[:, mixed][:, :, mixed]), places(logits)[:, mixed])


def test_of_queries_with_equal_votes_the_lower_number_is_read_first() -> None:
    assert places(torch.zeros(1, 300, 300)).tolist() == [list(range(300))]


def test_boxes_of_masks_hug_what_is_positive() -> None:
    masks = torch.full((1, 3, 10, 20), -1.0)
    masks[0, 0, 2:5, 4:10] = 1
    masks[0, 1] = 1
    assert mask_boxes(masks)[0, 0].tolist() == pytest.approx([7 / 20, 3.5 / 10, 6 / 20, 3 / 10])
    assert mask_boxes(masks)[0, 1].tolist() == [0.5, 0.5, 1, 1]
    assert mask_boxes(masks)[0, 2].tolist() == [0, 0, 0, 0]


def test_a_checkpoint_of_another_build_is_refused(model: object) -> None:
    other = transformers.PPDocLayoutV3ForObjectDetection(small_config(mask_enhanced=False))
    with pytest.raises(OpenError, match="mask_enhanced=False"):
        net_of(other)


def test_pictures_are_scaled_as_the_model_was_trained() -> None:
    pixels = page(1, 620, 877)
    ours = scale(torch.from_numpy(pixels).permute(2, 0, 1), 200).permute(1, 2, 0).numpy() * 255
    trained = cv2.resize(pixels, (200, 200), interpolation=cv2.INTER_CUBIC)
    assert np.abs(ours - trained).max() <= 1.01
    assert np.abs(ours - np.rint(ours)).max() < 1e-3


def test_pictures_are_scaled_as_the_processor_does_on_a_gpu() -> None:
    resize = pytest.importorskip("torchvision.transforms.v2.functional", exc_type=ImportError).resize_image
    picture = torch.from_numpy(page(2, 620, 877)).permute(2, 0, 1)
    # as float, the path that the processor takes for tensors on a GPU
    theirs = (
        resize(picture.float(), [200, 200], interpolation="bicubic", antialias=False).round().clamp(0, 255)
    )
    assert torch.equal(scale(picture, 200), theirs / 255)


def test_blocks_come_in_reading_order_inside_their_page(layout: DocLayoutEngine) -> None:
    pages = layout.detect([page(1), page(2, 500, 300), page(3)])
    assert len(pages) == 3
    assert sum(map(len, pages)) > 5, "random weights should find something"
    for blocks, (width, height) in zip(pages, [(310, 440), (500, 300), (310, 440)], strict=True):
        assert [block.order for block in blocks] == list(range(len(blocks)))
        for block in blocks:
            x0, y0, x1, y1 = block.box
            assert 0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height
            assert block.label in LABELS and block.native_label == block.label and block.score >= 0.3
            assert len(block.polygon) >= 4
            assert all(0 <= x <= width and 0 <= y <= height for x, y in block.polygon)


def test_a_page_reads_the_same_alone_and_among_others(layout: DocLayoutEngine) -> None:
    alone = layout.detect([page(2)])[0]
    among = layout.detect([page(1), page(2), page(3)])[1]
    assert [(b.label, b.order) for b in alone] == [(b.label, b.order) for b in among]
    assert np.allclose([b.box for b in alone], [b.box for b in among], atol=0.01)


def test_encoded_pages_and_arrays_give_the_same(layout: DocLayoutEngine) -> None:
    pixels = page(4)
    encoded = cv2.imencode(".png", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR))[1].tobytes()
    assert layout.detect([encoded]) == layout.detect([pixels])


def test_no_pages_give_no_results(layout: DocLayoutEngine) -> None:
    assert layout.detect([]) == []


def test_broken_bytes_are_a_sentence(layout: DocLayoutEngine) -> None:
    with pytest.raises(BadInput, match="not a picture"):
        layout.detect([page(1), b"not a picture at all"])
    with pytest.raises(BadInput, match="must be RGB"):
        layout.detect([np.zeros((10, 10), dtype=np.uint8)])


def test_missing_weights_say_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(MissingModel, match="hf download PaddlePaddle"):
        DocLayoutEngine(str(tmp_path), device="cpu")


def test_missing_packages_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    with pytest.raises(
        MissingModel, match=r"transformers is not installed.*pip install 'penstock-pipeline\[gpu\]'"
    ):
        DocLayoutEngine("anything")


def test_a_checkpoint_with_other_classes_is_refused() -> None:
    with pytest.raises(OpenError, match="7 classes"):
        doclayout.native_labels(small_config(id2label={i: str(i) for i in range(7)}))


def test_a_network_that_cannot_be_compiled_runs_eager_and_says_why(
    model: object, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_compiler(*_: object, **__: object) -> object:
        raise RuntimeError("no C compiler here")

    monkeypatch.setattr(torch, "compile", no_compiler)
    net = net_of(model)
    with caplog.at_level(logging.WARNING):
        fixed = FixedBatch(net, (2, 3, SIDE, SIDE), "cpu", torch.float32, compile=True)
    assert fixed.mode == "eager" and "no C compiler here" in caplog.text
    pixels = torch.rand(1, 3, SIDE, SIDE)
    with torch.inference_mode():
        output: Output = fixed(pixels)
        assert torch.allclose(output.rows[:1], net(pixels).rows, atol=1e-4)


def test_input_batches_keep_each_picture_in_its_place() -> None:
    pictures = [np.full((40 + i, 30, 3), 10 * i, dtype=np.uint8) for i in range(5)]
    loader = PageInput(32, "cpu", torch.float32)
    try:
        pages = loader.load(pictures)
    finally:
        loader.close()
    assert pages.sizes == [(30, 40 + i) for i in range(5)]
    assert [round(float(p.mean() * 255)) for p in pages.pixels] == [0, 10, 20, 30, 40]


def regions(checkpoint: Path, **options: object) -> tuple[Region, ...]:
    """A page through the stage as the recipe makes it of a user's options."""
    stage = build("glm-ocr", {"layout_model": str(checkpoint), **options}).stages[1]
    worker = stage.open()
    encoded = cv2.imencode(".png", page(1))[1].tobytes()
    [read] = worker([Page(id="one", document="d", part=0, uri="", image=encoded, width=310, height=440)])
    worker.close()
    return read.regions


@pytest.mark.skipif(torch.cuda.is_available(), reason="for the CPU: a GPU rounds otherwise")
def test_the_options_of_the_recipe_change_the_regions_of_a_page(checkpoint: Path) -> None:
    usual = regions(checkpoint)
    scores = sorted(region.score for region in usual)
    middle = scores[len(scores) // 2]
    fewer = regions(checkpoint, layout_threshold=str(middle))
    assert 0 < len(fewer) < len(usual) and min(region.score for region in fewer) >= middle
    label = usual[0].label
    without = regions(checkpoint, layout_threshold=f"{label}=1")
    assert label not in {region.label for region in without} and without
    assert len(regions(checkpoint, layout_merge="union", layout_nms=False)) > len(usual)
    narrow = regions(checkpoint, layout_unclip="0.5x1.0")
    for old, new in zip(usual, narrow, strict=True):
        assert new.box[2] - new.box[0] < old.box[2] - old.box[0]
        assert (new.box[1], new.box[3]) == pytest.approx((old.box[1], old.box[3]))


@pytest.mark.skipif(torch.cuda.is_available(), reason="for the CPU: a GPU rounds otherwise")
def test_precision_reaches_the_network_and_compiling_is_for_a_gpu(checkpoint: Path) -> None:
    usual, half = regions(checkpoint), regions(checkpoint, layout_precision="bf16")
    assert usual == regions(checkpoint, layout_precision="fp32")
    assert half and [r.score for r in half] != [r.score for r in usual]
    with pytest.raises(OpenError, match="compiled for a GPU only"):
        regions(checkpoint, layout_compile=True)


@pytest.mark.skipif(torch.cuda.is_available(), reason="for the CPU: a GPU rounds otherwise")
def test_the_built_in_recipe_finds_the_same_regions_with_the_same_checkpoint(checkpoint: Path) -> None:
    plan = build("documents", {"layout": "pp-doclayoutv3", "layout_model": str(checkpoint)})
    worker = next(stage for stage in plan if stage.name == "layout").open()
    pixels = np.ascontiguousarray(page(1)[..., ::-1])  # as the encoded one is decoded
    [read] = worker([Page(id="one", document="d", part=0, uri="", pixels=pixels, width=310, height=440)])
    worker.close()
    assert [region.index for region in read.regions] == list(range(1, len(read.regions) + 1))
    by_server = [(r.label, pytest.approx(r.box), pytest.approx(r.score)) for r in regions(checkpoint)]
    assert [(r.label, r.box, r.score) for r in read.regions] == by_server
