"""What the report says, in English and Korean.

Both are in the page; its reader chooses. A label keeps the user's own word in the user's language.
"""

from __future__ import annotations

import html

from penstock.photo import PhotoObject
from penstock.photos import notes
from penstock.photos.furniture import SYNONYMS, UNKNOWN, Furniture
from penstock.scripts import has_syllable

Both = tuple[str, str]  # English, Korean

PAGE: dict[str, Both] = {
    "title": ("Moving inventory", "이사 물품 견적"),
    "photos": ("Photos", "사진"),
    "items": ("Items", "물품"),
    "item": ("Item", "물품"),
    "size": ("W × D × H, cm", "가로 × 깊이 × 높이, cm"),
    "box": ("As it stands, m³", "놓인 부피, m³"),
    "moving": ("To move, m³", "운반 부피, m³"),
    "likely": ("Likely, m³", "예상 범위, m³"),
    "total": ("Total", "합계"),
    "unsure": ("unsure", "불확실"),
    "explained": (
        "“To move” counts items as they travel: beds and wardrobes taken apart, chairs nested. The range of"
        " an item, and of the total, is meant to hold the true value in 8 of 10 cases; “unsure” marks ranges"
        " whose upper end is more than four times the lower. The total is the middle of what the items may"
        " add up to: where items may well be larger than estimated, it is more than their sum. Sizes"
        " estimated from one photo depend on the camera's height and tilt; please check large items before"
        " you rely on a quote.",
        "“운반 부피”는 실제로 옮길 때의 부피입니다. 침대와 옷장은 분해하고 의자는 겹쳐 쌓는 것으로"
        " 계산합니다. 물품과 합계의 예상 범위는 10번 중 8번 실제 값을 포함하도록 정한 것이며, 위쪽 끝이"
        " 아래쪽 끝의 네 배를 넘으면 “불확실”로 표시합니다. 합계는 물품을 모두 더했을 때 예상되는 값의"
        " 중앙값으로, 물품이 추정보다 클 수 있으면 단순한 합보다 큽니다. 사진 한"
        " 장으로 추정한 크기는 카메라의 높이와 기울기에 따라 달라지므로, 큰 물품은 견적을 확정하기 전에"
        " 확인해 주십시오.",
    ),
}
HOW: dict[str, Both] = {
    "metric": ("measured in 3D", "3D 측정"),
    "anchored": ("3D shape, size by camera", "3D 형상, 카메라 기준 크기"),
    "prior": ("estimate", "추정"),
}
SIDES: dict[str, Both] = {
    "left": ("left", "왼쪽"),
    "right": ("right", "오른쪽"),
    "top": ("top", "위쪽"),
    "bottom": ("bottom", "아래쪽"),
}
SENTENCES: dict[str, Both] = {
    "Turned boxes differ: check its size.": (
        "Stands at an angle: check its size.",
        "비스듬히 놓여 확인이 필요합니다.",
    ),
}
NOTES: dict[str, Both] = {  # what `cut` says is said with its sides
    notes.CAMERA_GIVEN: ("Camera height as given.", "카메라 높이는 입력값입니다."),
    notes.CAMERA_BY_DEPTH: ("Camera and size by the depth map.", "깊이 지도로 카메라와 크기를 측정했습니다."),
    notes.CAMERA_FOUND: (
        "Camera height and tilt found by the things in the photo.",
        "카메라 높이와 기울기는 사진 속 물품으로 추정했습니다.",
    ),
    notes.LENS_BY_EXIF: ("Lens by the photo's EXIF.", "렌즈 정보는 사진의 EXIF에서 읽었습니다."),
    notes.LENS_BY_DEPTH: ("Lens by the depth model.", "렌즈는 깊이 모델의 추정값입니다."),
    notes.LENS_GUESSED: ("Lens guessed.", "렌즈는 추정값입니다."),
    notes.BOX_TAKEN: (
        "Its outline was not found: the box was measured.",
        "윤곽을 찾지 못해 상자로 측정했습니다.",
    ),
    notes.FOUND_TWICE: ("Found twice: counted once.", "두 번 찾았으나 한 번만 세었습니다."),
    notes.LABEL_NOT_SEEN: (
        "Label given, not seen: please check that it is one.",
        "이름은 입력값이며 사진에서 확인하지 않았습니다.",
    ),
    notes.NOT_ITS_LABEL: (
        "Its outline fits no usual size of its kind: check what it is.",
        "윤곽이 해당 종류의 일반적인 크기와 맞지 않습니다. 무엇인지 확인해 주십시오.",
    ),
    notes.NOT_ON_FLOOR: (
        "Not on the floor: usual size of its kind.",
        "바닥에 놓여 있지 않아 같은 종류의 일반적인 크기로 계산했습니다.",
    ),
    notes.HIDDEN: ("Hidden in part by something nearer.", "앞의 물품에 일부가 가려졌습니다."),
    notes.SIZE_KNOWN: ("One of its sizes was given.", "크기 일부는 입력값입니다."),
    notes.AT_ODDS: (
        "The 3D size is at odds with photo and kind: not to be relied on.",
        "3D 크기가 사진과 종류에 맞지 않아 그대로 믿을 수 없습니다.",
    ),
    notes.UNKNOWN_KIND: (
        "Of no known kind: its size is less sure.",
        "알려진 종류가 아니어서 크기가 덜 정확합니다.",
    ),
}


def both(words: Both) -> str:
    """Both languages as HTML; the page's style shows one."""
    english, korean = (html.escape(text) for text in words)
    return (
        english if english == korean else f'<span class="en">{english}</span><span class="ko">{korean}</span>'
    )


def name_of(thing: PhotoObject) -> Both:
    """'소파' is a sofa in English, and 'couch' a 소파 in Korean."""
    kind = thing.kind or Furniture.open().find(thing.label).name
    korean = next((word for word in SYNONYMS.get(kind, ()) if has_syllable(word)), thing.label)
    label = thing.label.replace("_", " ")
    if kind == UNKNOWN:
        return label, "물건" if label == UNKNOWN else label
    return (kind.replace("_", " "), label) if has_syllable(label) else (label, korean)


def notes_of(thing: PhotoObject, same_as: int | None, looks_like: int | None) -> list[Both]:
    said: list[Both] = []
    if looks_like is not None:
        question = f"Looks like no. {looks_like}: counted twice?"
        said.append((question, f"{looks_like}번과 비슷합니다. 같은 물품입니까?"))
    if same_as is not None:
        same = f"Same as no. {same_as}, not counted again."
        said.append((same, f"{same_as}번과 같은 물품으로, 다시 세지 않았습니다."))
    if not thing.movable:
        said.append(("Stays.", "옮기지 않습니다."))
    if thing.cut:
        english, korean = zip(*(SIDES[side] for side in thing.cut), strict=True)
        cut = f"Cut off at the photo's {' and '.join(english)} edge."
        said.append((cut, f"사진의 {', '.join(korean)}에서 잘렸습니다."))
    said += [NOTES[word] for word in thing.measurement_notes if word in NOTES]
    return said + [words for sentence, words in SENTENCES.items() if sentence in thing.note]


def language_of(things: list[PhotoObject]) -> str:
    """The language the page opens in: the one its labels were written in."""
    return "ko" if any(has_syllable(thing.label) for thing in things) else "en"
