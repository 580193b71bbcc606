"""Sizes that furniture and appliances are sold in, for rooms that are not drawn from our own table.

Width, depth, height in centimetres, rounded, written down from what catalogues and standards commonly give;
not looked up one by one. None of these rows went into `photos/furniture_table.py`, whose figures are medians
of one maker's catalogue, of scanned rooms, of certified refrigerators, and our own. Where the figures of a
class come from:

- beds: mattresses of the sizes sold in Europe (90, 140, 160, 180 x 200), the USA (97 x 191, 152 x 203, 193 x
  203) and Korea (110, 150, 160 x 200), with the 3 to 15 cm a frame adds and headboards of 80 to 120;
- refrigerators, washing machines: makers' data sheets, 60 cm for Europe, 83 to 91 cm for two doors abreast;
- tables and desks: the usual tops (80 x 80 to 240 x 100, 100 x 50 to 180 x 80) at 72 to 76;
- televisions: 32 to 75 inches diagonal at 16:9, with their depth on a wall;
- wardrobes, bookcases, chests, cabinets: modules of 40, 50, 60, 80, 100 cm as several makers sell them;
- seats: data sheets of makers in Europe, the USA and Korea.
"""

from __future__ import annotations

Centimetres = tuple[int, int, int]


def _sizes(text: str) -> tuple[Centimetres, ...]:
    """'80x40x90 60x35x180' -> two sizes."""
    found = [tuple(map(int, size.split("x"))) for size in text.split()]
    return tuple((width, depth, height) for width, depth, height in found)


SIZES: dict[str, tuple[Centimetres, ...]] = {
    "sofa": _sizes(
        "228x95x83 190x90x85 218x93x66 180x88x78 240x98x90 152x80x76 165x86x88"
        " 203x91x81 260x105x85 146x78x70 210x84x79 195x100x95"
    ),
    "armchair": _sizes(
        "68x82x100 82x96x101 78x78x74 70x75x78 90x92x80 64x70x76 98x95x105 74x84x92 85x80x70 60x66x82"
    ),
    "chair": _sizes(
        "41x47x93 45x53x81 51x58x97 47x50x78 55x55x80 42x49x88 48x56x100 44x45x77 53x52x83 40x51x95"
    ),
    "office_chair": _sizes("62x60x110 68x68x120 58x58x92 70x70x130 65x62x104 64x66x98 72x70x125"),
    "stool": _sizes("40x40x45 35x35x47 58x58x42 45x45x40 62x48x44 33x33x46 80x60x41"),
    "bookcase": _sizes(
        "80x28x202 40x28x202 77x39x147 147x39x147 60x24x180 80x30x120 90x35x190 120x30x200 77x39x77 100x32x75"
    ),
    "cabinet": _sizes("80x40x90 120x40x80 60x35x180 90x42x110 80x38x140 100x45x200 70x40x75"),
    "wardrobe": _sizes(
        "100x60x236 150x60x201 80x52x190 120x60x200 200x60x236 117x50x190 90x58x210 180x62x220 240x62x225"
    ),
    "tv_stand": _sizes("120x40x48 180x42x39 160x40x50 147x36x50 200x40x45 140x45x60 90x30x45"),
    "dresser": _sizes("80x48x100 160x48x78 80x48x78 108x50x131 60x45x90 120x45x80 100x42x95 40x48x102"),
    "nightstand": _sizes("45x35x50 40x40x55 48x38x70 50x40x45 37x28x45 46x35x60 55x42x52"),
    "desk": _sizes(
        "120x60x74 140x70x73 160x80x75 100x50x76 105x50x75 140x65x73 180x80x72 120x80x74 73x50x75"
    ),
    "bed": _sizes(
        "149x209x96 166x206x100 185x210x90 98x205x80 157x218x120 115x206x95"
        " 196x216x115 103x201x85 165x212x45 200x210x110"
    ),
    "table": _sizes(
        "140x80x75 120x75x74 180x90x75 75x75x74 160x85x73 200x100x76 110x70x75 240x100x75 90x90x73"
    ),
    "coffee_table": _sizes("90x55x45 118x78x45 120x60x38 55x55x45 100x60x40 80x80x35 110x70x42"),
    "sideboard": _sizes("180x42x74 150x40x80 120x40x85 160x45x75 200x45x70 106x38x90"),
    "refrigerator": _sizes("60x66x186 91x72x178 60x60x145 83x92x179 70x74x178 55x58x144 91x92x185 60x65x203"),
    "washing_machine": _sizes("60x60x85 60x55x85 69x80x99 60x64x85 63x68x104 69x84x99 60x45x85"),
    "television": _sizes("73x8x43 97x6x56 112x6x65 123x5x71 145x6x83 168x6x96"),
    "lamp": _sizes("30x30x150 45x45x160 28x28x140 50x50x175 36x36x155"),
    "carton": _sizes("40x30x30 60x40x40 48x34x36 52x39x36 46x46x41 60x48x43"),
    "piano": _sizes("150x60x121 148x61x113 153x65x131 151x55x109"),
    "bar_stool": _sizes("44x44x63 40x45x91 44x44x95 45x52x103 40x40x75 43x50x110"),
}

# what detectors and people take one class for
MISTAKEN: dict[str, tuple[str, ...]] = {
    "sofa": ("armchair", "bed"),
    "armchair": ("sofa", "chair"),
    "chair": ("armchair", "stool"),
    "office_chair": ("chair", "armchair"),
    "stool": ("coffee_table", "chair"),
    "bar_stool": ("chair", "stool"),
    "bookcase": ("cabinet", "wardrobe"),
    "cabinet": ("wardrobe", "dresser"),
    "wardrobe": ("cabinet", "bookcase"),
    "tv_stand": ("sideboard", "coffee_table"),
    "dresser": ("cabinet", "nightstand"),
    "nightstand": ("dresser", "stool"),
    "desk": ("table", "coffee_table"),
    "bed": ("sofa", "mattress"),
    "table": ("desk", "coffee_table"),
    "coffee_table": ("table", "stool"),
    "sideboard": ("tv_stand", "dresser"),
    "refrigerator": ("wardrobe", "cabinet"),
    "washing_machine": ("microwave", "cabinet"),
    "television": ("mirror", "microwave"),
    "lamp": ("plant", "bar_stool"),
    "carton": ("stool", "nightstand"),
    "piano": ("desk", "sideboard"),
}
