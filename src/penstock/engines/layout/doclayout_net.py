"""PP-DocLayoutV3's arithmetic, only as much of it as a page's result needs.

The checkpoint's own modules (backbone, encoder, decoder layers, heads) are called one by one. Beside the
plain model this leaves out the masks, order and classes of every decoder layer but the last and the
encoder's box head (masks give the first boxes), folds batch norms into their convolutions, and samples
the decoder's points by one gather. Box arithmetic stays in float32 whatever the network runs
in: 16 bits place an edge of a 3508 px page no better than to 1 (fp16) or 8 (bf16) pixels.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

from penstock.engines.layout.torch_import import functional, nn, torch
from penstock.errors import OpenError

Tensor = Any  # torch.Tensor, which a type checker without torch does not know

EPSILON = 1e-5  # the network's own bound where a box edge becomes a logit
SCORE, LABEL, QUERY, PLACE = range(4)  # columns of `Output.rows`; the box follows as x0, y0, x1, y1 in 0..1


class Output(NamedTuple):
    """What the network says of a batch.

    `rows` is (pages, queries, 8) in float32, best score first. `queries` and `features` are there for
    masks: query q of page p covers what `queries[p, q] @ features[p]` finds positive.
    """

    rows: Tensor
    queries: Tensor
    features: Tensor


class LayoutNet:
    """The network as a function of a batch of pictures, (pages, 3, size, size) in 0..1."""

    def __init__(self, model: Any, size: int, device: str, dtype: Any) -> None:
        _check(model.config, size)
        self._core = simplified(model.eval()).model.to(device=device, dtype=dtype)
        self._core.decoder.bbox_embed.float()
        self._core.decoder.query_pos_head.layers[0].float()
        if device.startswith("cuda"):
            self._core.to(memory_format=torch.channels_last)  # what its tensor cores read without a copy
        self._num_queries = model.config.num_queries
        self._levels = _Levels(self._core, [size // s for s in model.config.feat_strides], device)

    def __call__(self, pixels: Tensor) -> Output:
        memory, features = self._encode(pixels)
        chosen = self._choose(memory)
        hidden, boxes = self._decode(chosen, memory, features)
        spoken = self._core.decoder_norm(hidden)
        logits = self._core.decoder.class_embed(spoken).float()
        rows = _rows(logits, boxes, places(self._pairs(hidden)))
        return Output(rows, self._core.mask_query_head(spoken), features)

    def _encode(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """All positions of all levels as one sequence, and the map that masks are made from."""
        core = self._core
        fine, *maps = core.backbone.model(pixels).feature_maps
        projected = [project(level) for project, level in zip(core.encoder_input_proj, maps, strict=True)]
        encoded = core.encoder(projected, (fine,))
        levels = zip(core.decoder_input_proj, encoded.last_hidden_state, strict=True)
        memory = torch.cat([project(level).flatten(2).transpose(1, 2) for project, level in levels], 1)
        return memory, encoded.mask_feat

    def _choose(self, memory: Tensor) -> Tensor:
        """The positions most likely to be something, as the decoder's queries."""
        seen = self._core.enc_output(memory * self._levels.valid.to(memory.dtype))
        likely = self._core.enc_score_head(seen).amax(-1)
        best = likely.topk(self._num_queries, dim=1).indices
        return seen.gather(1, best.unsqueeze(-1).expand(-1, -1, seen.shape[-1]))

    def _decode(self, hidden: Tensor, memory: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
        """Last hidden state and boxes (centre and size, 0..1), refined by every layer."""
        core = self._core
        queries = core.mask_query_head(core.decoder_norm(hidden))
        masks = torch.bmm(queries, features.flatten(2)).unflatten(-1, features.shape[-2:])
        boxes = torch.sigmoid(_logit(mask_boxes(masks)))
        for layer in core.decoder.layers:
            position = self._position(boxes, hidden.dtype)
            hidden = self._layer(layer, hidden, position, boxes, memory)
            boxes = torch.sigmoid(core.decoder.bbox_embed(hidden.float()) + _logit(boxes))
        return hidden, boxes

    def _pairs(self, hidden: Tensor) -> Tensor:
        """Logits that query i is read before query j, for every i and j, in float32.

        From the state before its norm, as in the publisher's own export. The library's model takes it after
        the norm, which turns one pair in 1,700, and leaves out those of i > j, which `places` needs.
        """
        pointer = self._core.decoder_global_pointer
        both = pointer.dense(self._core.decoder_order_head[-1](hidden)).float()
        first, second = both.unflatten(-1, (2, pointer.head_size)).unbind(-2)
        return first @ second.transpose(1, 2) / math.sqrt(pointer.head_size)

    def _position(self, boxes: Tensor, dtype: Any) -> Tensor:
        """What tells the layers where a box is: read in float32, since coordinates need it."""
        first, *rest = self._core.decoder.query_pos_head.layers
        told = first(boxes).to(dtype)
        for layer in rest:
            told = layer(functional.relu(told))
        return told

    def _layer(self, layer: Any, hidden: Tensor, position: Tensor, boxes: Tensor, memory: Tensor) -> Tensor:
        told, _ = layer.self_attn(hidden_states=hidden, attention_mask=None, position_embeddings=position)
        hidden = layer.self_attn_layer_norm(hidden + told)
        told = self._levels.look(layer.encoder_attn, hidden + position, boxes, memory)
        hidden = layer.encoder_attn_layer_norm(hidden + told)
        return layer.final_layer_norm(hidden + layer.mlp(hidden))


class _Levels:
    """Where each of the pyramid's levels lies in the sequence, and how to sample them."""

    def __init__(self, core: Any, sides: list[int], device: str) -> None:
        areas = [side * side for side in sides]
        starts = [0, *itertools.accumulate(areas)][:-1]
        self.valid = core.generate_anchors(
            tuple((side, side) for side in sides), device=device, dtype=torch.float32
        )[1]
        # 32 bits: half the memory traffic of the gather that these make places for
        self._sides = torch.tensor(sides, device=device, dtype=torch.int32).view(-1, 1)
        self._starts = torch.tensor(starts, device=device, dtype=torch.int32).view(-1, 1)

    def look(self, attention: Any, queries: Tensor, boxes: Tensor, memory: Tensor) -> Tensor:
        """Deformable attention: each head reads a few points about each query's box on each level."""
        pages, count, width = queries.shape
        heads, levels, points = attention.n_heads, attention.n_levels, attention.n_points
        values = attention.value_proj(memory).view(pages, -1, heads, width // heads)
        offsets = attention.sampling_offsets(queries).view(pages, count, heads, levels, points, 2).float()
        weights = attention.attention_weights(queries).view(pages, count, heads, levels * points)
        weights = weights.float().softmax(-1).view(pages, count, heads, levels, points)
        centre, extent = boxes[:, :, None, None, None, :2], boxes[:, :, None, None, None, 2:]
        where, shares = self._corners(centre + offsets / points * extent * 0.5, weights)
        page = torch.arange(pages, device=queries.device).view(-1, 1, 1, 1)
        head = torch.arange(heads, device=queries.device).view(1, 1, -1, 1)
        read = values[page, where, head] * shares.unsqueeze(-1)
        return attention.output_proj(read.sum(3).flatten(2).to(queries.dtype))

    def _corners(self, at: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Positions in the sequence of the four cells about each point, and the share of each.

        Cells beyond the edge have none. Both are (pages, queries, heads, 4 * levels * points).
        """
        at = at * self._sides.unsqueeze(-1) - 0.5
        low = at.floor()
        part = at - low
        where, shares = [], []
        for right, below in itertools.product((0, 1), (0, 1)):
            x, y = low[..., 0] + right, low[..., 1] + below
            within = (x >= 0) & (x < self._sides) & (y >= 0) & (y < self._sides)
            across = part[..., 0] if right else 1 - part[..., 0]
            down = part[..., 1] if below else 1 - part[..., 1]
            cell = self._starts + y.int() * self._sides + x.int()
            where.append(torch.where(within, cell, 0))
            shares.append(torch.where(within, weights * across * down, 0.0))
        return torch.stack(where, -1).flatten(3), torch.stack(shares, -1).flatten(3)


def _check(config: Any, size: int) -> None:
    if (
        config.mask_enhanced
        and not config.learn_initial_query
        and config.num_feature_levels == len(config.decoder_in_channels)
        and size % max(config.feat_strides) == 0
    ):
        return
    raise OpenError(
        f"This {config.model_type} checkpoint is built unlike PP-DocLayoutV3 "
        f"(mask_enhanced={config.mask_enhanced}, learn_initial_query={config.learn_initial_query}, "
        f"num_feature_levels={config.num_feature_levels}, input {size}).",
        "Use PaddlePaddle/PP-DocLayoutV3_safetensors or a model trained from it.",
    )


def _logit(share: Tensor) -> Tensor:
    share = share.clamp(0, 1)
    return torch.log(share.clamp(min=EPSILON) / (1 - share).clamp(min=EPSILON))


def mask_boxes(masks: Tensor) -> Tensor:
    """Centre and size, 0..1 in float32, of what is positive in each mask; zeros where nothing is."""
    height, width = masks.shape[-2:]
    x0, x1 = _span(masks.amax(-2) > 0)
    y0, y1 = _span(masks.amax(-1) > 0)
    x0, x1, y0, y1 = x0 / width, x1 / width, y0 / height, y1 / height
    return torch.stack([(x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0], dim=-1)


def _span(flags: Tensor) -> tuple[Tensor, Tensor]:
    """First set place and one past the last along the last axis, as float32."""
    count = flags.shape[-1]
    at = torch.arange(count, device=flags.device, dtype=torch.float32)
    end = torch.where(flags, at + 1, 0.0).amax(-1)
    return torch.where(flags, at, float(count)).amin(-1).minimum(end), end


def places(pairs: Tensor) -> Tensor:
    """The place of each query in reading order, from (pages, n, n) logits that i is read before j.

    What is said of i and j is weighed against what is said of j and i, as in the publisher's own export:
    with one of the two alone the order would hang on the numbers of the queries, which rounding changes.
    Every pair votes, kept queries or not; who has the fewest expected predecessors is read first, of equals
    the one with the lower number.
    """
    votes = torch.sigmoid(pairs - pairs.transpose(1, 2)).sum(1)
    return votes.argsort(dim=1, stable=True).argsort(1)


def _rows(logits: Tensor, boxes: Tensor, order: Tensor) -> Tensor:
    """The best pairs of query and label, as many as there are queries."""
    labels = logits.shape[-1]
    scores, index = torch.sigmoid(logits).flatten(1).topk(logits.shape[1], dim=1)
    query = index // labels
    corners = torch.cat([boxes[..., :2] - boxes[..., 2:] / 2, boxes[..., :2] + boxes[..., 2:] / 2], -1)
    corners = corners.gather(1, query.unsqueeze(-1).expand(-1, -1, 4))
    columns = torch.stack(
        [scores, (index % labels).float(), query.float(), order.gather(1, query).float()], -1
    )
    return torch.cat([columns, corners], -1)


def masks_of(output: Output, page: int, queries: list[int], threshold: float) -> Any:
    """Boolean masks of some queries of a page, as a numpy array (queries, height, width)."""
    features = output.features[page]
    chosen = output.queries[page][queries]
    sure = (chosen.float() @ features.flatten(1).float()) > math.log(threshold / (1 - threshold))
    return sure.unflatten(-1, features.shape[-2:]).cpu().numpy()


def simplified(model: Any) -> Any:
    """The same function in fewer layers: norms folded into convolutions, parallel convolutions added up."""
    with torch.no_grad():
        for module in list(model.modules()):
            _fold_norms(module)
        for module in list(model.modules()):
            for name, child in list(module.named_children()):
                if type(child).__name__.endswith("RepVggBlock"):
                    setattr(module, name, _one_convolution(child))
    return model


def _fold_norms(module: Any) -> None:
    children = list(module.named_children())
    for (_, conv), (name, norm) in itertools.pairwise(children):
        if isinstance(conv, nn.Conv2d) and type(norm).__name__.endswith("BatchNorm2d"):
            scale = norm.weight * torch.rsqrt(norm.running_var + getattr(norm, "eps", 1e-5))
            bias = norm.bias - norm.running_mean * scale
            if conv.bias is not None:
                bias = bias + conv.bias * scale
            conv.weight = nn.Parameter(conv.weight * scale.view(-1, 1, 1, 1), requires_grad=False)
            conv.bias = nn.Parameter(bias, requires_grad=False)
            setattr(module, name, nn.Identity())


def _one_convolution(block: Any) -> Any:
    """A 3x3 and a 1x1 convolution of the same input are one 3x3 convolution."""
    wide, narrow = block.conv1.conv, block.conv2.conv
    wide.weight += functional.pad(narrow.weight, (1, 1, 1, 1))
    wide.bias += narrow.bias
    return nn.Sequential(wide, block.activation)
