"""What movers ask beyond the volume: weight, whether it comes apart, cartons for what is in it, the truck.

All figures are ours, from what such things usually weigh and hold; they are for planning, and no range goes
with them.
"""

from __future__ import annotations

import math

# kg of one of the table's size; a larger one weighs more as its volume is larger, so these follow the table
KG: dict[str, float] = {
    "sofa": 52, "corner_sofa": 95, "sofa_bed": 79, "armchair": 27.5, "chair": 6, "stool": 5, "bar_stool": 7,
    "bookcase": 38.5, "cabinet": 49.5, "wardrobe": 78.5, "tv_stand": 33.5, "dresser": 43, "nightstand": 14,
    "desk": 35, "bed": 75, "table": 40, "bathtub": 60, "toilet": 35, "office_chair": 15, "coffee_table": 20,
    "sideboard": 50, "mattress": 30, "refrigerator": 101, "washing_machine": 72, "television": 20,
    "microwave": 14, "air_conditioner": 38, "piano": 230, "bicycle": 14,
    "lamp": 6, "plant": 15, "mirror": 12, "carton": 15,
    "clothes_care": 85, "massage_chair": 110, "air_purifier": 9, "dishwasher": 45, "treadmill": 95,
    "bunk_bed": 80, "grand_piano": 320, "side_table": 8, "rug": 18, "printer": 10,
}  # fmt: skip
KG_PER_CBM = 112.0  # of what has no class: seven pounds a cubic foot, as movers reckon
APART = frozenset({"bed", "bunk_bed", "wardrobe", "table", "desk", "corner_sofa", "treadmill", "bookcase"})
# what is inside and must be packed, as a share of the box
CONTENTS = {
    "bookcase": 0.4, "wardrobe": 0.3, "cabinet": 0.35, "dresser": 0.4, "sideboard": 0.35, "nightstand": 0.25,
    "desk": 0.1, "tv_stand": 0.15, "refrigerator": 0.12,
}  # fmt: skip
CARTON_CBM = 0.06  # 50 x 40 x 30 cm
TRUCKS = (("1 t", 6.0), ("2.5 t", 14.0), ("5 t", 28.0))  # m³ that go in, loaded by people


def weight_kg(kind: str, size: tuple[float, float, float] | None, usual: tuple[float, float, float]) -> float:
    """What a thing of this class and size weighs, about."""
    volume = math.prod(size or usual)
    return KG[kind] * volume / math.prod(usual) if kind in KG else KG_PER_CBM * volume


def cartons(kind: str, bbox_cbm: float) -> int:
    """Cartons that what is in it needs."""
    share = CONTENTS.get(kind, 0.0)
    return math.ceil(share * bbox_cbm / CARTON_CBM) if share else 0


def truck(cbm: float) -> str:
    """The smallest truck that takes this volume, or how many of the largest."""
    for name, room in TRUCKS:
        if cbm <= room:
            return name
    name, room = TRUCKS[-1]
    return f"{math.ceil(cbm / room)} x {name}"
