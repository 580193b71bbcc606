"""The sentences of docs/quality.md; `score_all.py` puts the tables between them."""

INTRODUCTION = """\
The built-in recipe is made of small models that run on any processor. It is there so that Penstock works
at once and without a network, not to win benchmarks; the vision-language models Penstock can call publish
far better scores, formulas and handwriting included. Every data set below is small, so mind the intervals;
what is done by rules (order, tables among text) was developed on these pages; spaces between Korean lines
come from weights that were fitted to other texts. Beside the official scores stand ours: `invented` (text
that is on no page), and for Korean the character error rate with word spaces and the part of gaps that are
spaced wrongly."""

WEAK = """\
## Where it is weak

- **Formulas** on pictures are read by a small network of our own, display formulas only: those in a line of
  text lose their raised and lowered signs. What it is unsure of stays a picture. Those of born-digital pages
  are put together from where their signs stand: 49 of 50 set by Typst, from pictures 35
  (`typeset_formulas.py`).
- **Tables** that show their cells by white space alone may be missed on scans; they are lines of text then,
  which scores 0. Tables that are found without the layout model have no crop.
- **Receipts**: most words are there. Character error rates punish the order as much as the letters, and the
  truth is in capitals, so see the words.
- **Photographed pages** are flattened by their paper's corners and their text lines: what has neither (a few
  words, a receipt on white) is read as it lies, and so is a page on a table of its own colour. Type that is
  seen from far away and blurred stays lost.
- **Handwriting, seals**: not made for any of them. Handwritten notes lose a quarter of their text.
- **Contents pages and diagrams** lose their order: numbers stand apart from what they number.
- **Not measured here**, for want of pictures or of a truth: DP-Bench, OCRBench, OmniParseBench (its pages are
  on the Hugging Face Hub only), handwritten lines, street photos, pages in other languages than English,
  Chinese and Korean (lines in six other scripts: `tools/scripts`)."""

SIDE_BY_SIDE = """\
## Before, now, and beside other tools

The same pages, scored by the same rules (`score_all.py --tree`, `--peer`, `--beside`). "Before" is Penstock
at 585b6ca, the first tree that was scored. RapidOCR and Tesseract are given the pictures and write lines of
text: they have no tables, formulas or headings. Tesseract is told the languages of each set; RapidOCR reads
Chinese and Latin with the networks in its package and no Korean. Peers that fetch their networks from the
Hugging Face hub (MinerU, docling, marker, PaddleOCR) were not run. "Rules and bounds" were chosen on the
pages of the sets that say so; no network of ours was taught with any of them."""

BORN_DIGITAL = """\
Born-digital pages (`beside_peers.py`): 200 pages that Typst set from DP-Bench's reference, tables in five
ways in turn. DP-Bench's scores, and CPU seconds a page with the start of the tool, on a machine busy with
other work. We developed tables and headings on these pages, the others did not.

| | text | tables | their structure | headings | invented | CPU s a page |
|---|---|---|---|---|---|---|
| penstock | 0.924 | **0.716** | **0.787** | 0.755 | 0.005 | 0.98 |
| penstock `--layout rules` | 0.905 | 0.381 | 0.409 | 0.692 | 0.013 | 0.046 |
| pymupdf4llm 1.28.2 with its layout package | **0.931** | 0.676 | 0.697 | **0.763** | 0.007 | 0.761 |
| opendataloader 2.5.16 | 0.930 | 0.166 | 0.166 | 0.581 | 0.001 | 0.063 |
| markitdown 0.1.8 | 0.924 | 0.234 | 0.279 | 0 | 0.005 | 0.287 |
| kreuzberg 4.10.4 | 0.923 | 0 | 0 | 0.024 | 0.001 | 0.019 |
| pdftext 0.7.1 | 0.889 | 0 | 0 | 0 | 0 | 0.033 |"""

GENERALISE = """\
## On pages that rules were not chosen by

Made by `generalise.py` on 2026-11-18, x86_64, 2 cores that were busy with other work: 16 sources of
born-digital pages, up to 4 pages of each half, 111 pages. Each source of the development pages is cut in
two by document: rules and bounds are chosen on the tune half and believed on the check half. Means over
sources, each counting alike, with 95 % bootstrap intervals over the pages of each source. The samples are
small: mind the intervals, and that a score of one source is that source's. "Before" is Penstock at 4353e90,
on the same pages.

| score | sources: tune, check | before: tune | before: check | now: tune | now: check | interval | distance |
|---|---|---|---|---|---|---|---|
| text edit, less is better | 6, 6 | 0.172 | 0.138 | 0.172 | 0.138 | 0.087 to 0.211 | -0.033 |
| letters of reference cards | 1, 1 | 0.976 | 0.974 | 0.976 | 0.974 | 0.969 to 0.977 | -0.003 |
| words that their LaTeX source has | 4, 4 | 0.910 | 0.961 | 0.910 | 0.961 | 0.942 to 0.976 | +0.051 |
| TEDS of tables | 6, 4 | 0.687 | 0.462 | 0.687 | 0.462 | 0.306 to 0.607 | -0.225 |
| pages with a false table, less is better | 5, 5 | 0.000 | 0.100 | 0.000 | 0.100 | 0.000 to 0.200 | +0.100 |
| headings, F1 | 4, 4 | 0.822 | 0.721 | 0.834 | 0.738 | 0.585 to 0.834 | -0.096 |
| headings, precision | 4, 4 | 0.783 | 0.789 | 0.801 | 0.813 | 0.723 to 0.938 | +0.012 |
| reading order, less is better | 6, 6 | 0.140 | 0.140 | 0.140 | 0.140 | 0.083 to 0.208 | 0.000 |
| displayed formulas, edit, less is better | 1, 1 | 0.232 | 0.198 | 0.232 | 0.198 | 0.125 to 0.270 | -0.034 |
| Korean, CER, less is better | 1, 1 | 0.197 | 0.002 | 0.197 | 0.002 | 0.000 to 0.003 | -0.195 |
| values of invoices and forms | 3, 3 | – | – | 0.609 | 0.818 | 0.716 to 0.912 | +0.209 |

Turned pages (`turned_pages.py`, 20 of each half, quarter turns, 11 of them tilted by 2° as well): 40 of 40
are turned the right way, before 28; of the tilted ones 11 of 11, before 1.

What the larger layout network brings, 30 pages of the check half of these sources, the same with both: text
edit 0.191 → 0.090, order 0.196 → 0.086, pages with a false table 0.20 → 0, headings' F1 0.685 → 0.722 but
their precision 0.804 → 0.666, TEDS 0.469 → 0.469, formulas' edit 0.125 → 0.141; 0.9 → 2.8 CPU s a page.
All of the gain in text and order is of one source (`rendered_multilang` 0.604 → 0.005). On 14 scans and
pictures of the check half, 7 sources: text edit 0.258 → 0.123 (typewriting 0.501 → 0.077 and 0.188 → 0.174,
old books 0.342 → 0.239, Korean 0.001 → 0.001), boxes of blocks F1 0.461 → 0.926, letters of papers 0.963 →
0.940; 4.6 → 6.7 CPU s a page. `--effort best` uses the network wherever it was fetched, `balanced` on
pages without words of their own, such as scans and photos. `balanced` with and without it, 20 scans and
pictures a half, 10 sources, tune / check: text edit 0.322 → 0.298 / 0.420 → 0.322 (newspapers 0.650 →
0.594, handwriting 0.840 → 0.853), order 0.490 → 0.093 / 0.248 → 0.213, boxes of blocks F1 0.271 → 0.600 /
0.230 → 0.463, headings 0.333 → 1.000 / 0.444 → 0.500, Korean and receipts the same; 6.9 → 9.4 / 9.9 → 11.3
CPU s a page."""
BY_SCHEMA = """\
## Fields by a schema

Made by `extract_fields.py` on 2026-11-19: 44 ZUGFeRD invoices (German, French; the truth is the XML inside
the files) and 11 of invoice2data (English, French, Dutch), number, dates, total, net, tax, currency and
the amounts of the lines; and 48 scanned German till receipts, date and total, where the built-in engines
read the pictures. A value is wanted where the truth has it and the page prints it. Labels and rules were
chosen on the tune half and are believed on the check half; all is by rules, without a model. The baseline
(its precision, recall and invented values at the right) is one regular expression a field, which knows no
lines. `invented`: given values that no page holds.

| layout | documents | half | wanted | precision | recall | invented | baseline | recall | invented |
|---|---|---|---|---|---|---|---|---|---|
| rules | ZUGFeRD | tune | 167 | 0.928 | 0.766 | 0 | 0.554 | 0.335 | 10 |
| | | check | 185 | 0.894 | 0.730 | 0 | 0.559 | 0.335 | 14 |
| | invoice2data | tune | 31 | 0.923 | 0.774 | 0 | 0.750 | 0.484 | 0 |
| | | check | 22 | 0.895 | 0.773 | 0 | 0.714 | 0.455 | 1 |
| CDLA network | ZUGFeRD | tune | 167 | 0.908 | 0.766 | 0 | 0.554 | 0.335 | 10 |
| | | check | 185 | 0.893 | 0.724 | 0 | 0.554 | 0.335 | 14 |
| | invoice2data | tune | 31 | 0.962 | 0.806 | 0 | 0.750 | 0.484 | 0 |
| | | check | 22 | 0.789 | 0.682 | 0 | 0.714 | 0.455 | 1 |
| | receipts | tune | 53 | 0.961 | 0.925 | 0 | 0.771 | 0.509 | 0 |
| | | check | 36 | 1.000 | 0.861 | 0 | 0.750 | 0.500 | 0 |

By field, ZUGFeRD, check half, CDLA: numbers 1.000 / 1.000 (precision / recall), dates of invoices
0.955 / 0.913, due dates 1.000 / 0.800, totals 0.889 / 0.727, net 0.900 / 0.818, tax 0.864 / 0.864,
currencies 1.000 / 1.000, amounts of lines 0.467 / 0.171: lines whose cells no table shows, and whose
quantity times price is not the amount, stay lost. 0.07 CPU s a document. A served model was not scored:
there was none; what it may give is bound by the same search in the pages."""
PHOTOS = """\
## Sizes in photos

`benchmarks/cpu/bench_objects.py --only rooms` and `--only depth`: rooms of five things in sizes that
furniture is sold in, cast by cameras 0.8 to 1.9 m above the floor with 13 to 50 mm, tilted and rolled,
through lenses that bend; EXIF, in whole millimetres as the standard has it, in six of ten; things that hide
one another or are cut by the frame, 7 % wrong labels, 6 % failed outlines. Nothing is drawn from what the
estimator assumes. The rooms are cast boxes, not photographs: outlines are better than a detector's. Median
error of the volume, and how often a range that promises 80 % holds the truth, with what chance leaves open
in brackets (95 of 100; things of one room fail together and count for fewer). Ceilings are 2.3 to 3.0 m high
and walls have doors, windows, pictures and skirting boards. Rooms 1000-1199 (`--only rooms --first 1000
--rooms 200`), by which nothing was chosen:

| slice | things | error | holds | totals | error | holds |
|---|---|---|---|---|---|---|
| camera 0.8-1.0 m | 170 | 21 % | 80 % (73-86) | 34 | 16 % | 68 % (51-81) |
| camera 1.0-1.2 m | 160 | 19 % | 83 % (76-89) | 32 | 12 % | 88 % (72-95) |
| camera 1.2-1.4 m | 155 | 17 % | 87 % (79-92) | 31 | 12 % | 81 % (64-91) |
| camera 1.4-1.6 m | 205 | 17 % | 82 % (76-87) | 41 | 12 % | 83 % (69-91) |
| camera 1.6-1.9 m | 310 | 18 % | 82 % (76-86) | 62 | 12 % | 81 % (69-89) |
| 13-16 mm | 395 | 18 % | 85 % (80-88) | 79 | 12 % | 89 % (80-94) |
| 24-28 mm | 430 | 18 % | 80 % (76-84) | 86 | 11 % | 76 % (66-83) |
| 35-50 mm | 175 | 19 % | 83 % (77-89) | 35 | 17 % | 71 % (55-84) |
| tilt under 6° | 165 | 18 % | 87 % (80-92) | 33 | 13 % | 88 % (73-95) |
| tilt 6-14° | 335 | 19 % | 81 % (76-85) | 67 | 15 % | 70 % (58-80) |
| tilt over 14° | 500 | 17 % | 82 % (78-85) | 100 | 11 % | 84 % (76-90) |
| EXIF | 630 | 18 % | 83 % (80-86) | 126 | 12 % | 80 % (72-86) |
| no EXIF | 370 | 19 % | 82 % (77-86) | 74 | 13 % | 80 % (69-87) |
| all | 1000 | 18 % | 82 % (80-85) | 200 | 13 % | 80 % (74-85) |

| things | n | error | holds |
|---|---|---|---|
| plain | 596 | 17 % | 82 % (78-85) |
| cut by the frame | 299 | 18 % | 84 % (79-87) |
| outline failed | 54 | 18 % | 85 % (73-92) |
| label wrong | 50 | 25 % | 74 % (60-84) |
| not on the floor | 46 | 37 % | 87 % (74-94) |

Without depth ranges of things hold 80 to 87 % in the slices of the camera, which have 155 to 630 things, so
that chance moves each by 3 to 6 %. Together with rooms 0-199 and 2000-2199, whose ranges the same rules make,
each slice has 465 to 1,880 things and holds 79.4 to 84.4 %. Totals of five are off by 12.7 % (one in ten by
32 %), over all 600 rooms by 12.6 % (11.4 to 13.5 by chance), and not by the 12 % that were aimed at. In rooms
1000-1199 it was 12.5 % before what the frame cuts was told as long as its class makes it, which made the
mean error of the other 400 smaller by 4 %; 13.0 % before volumes were told a little below the median, 13.2 %
before sides varied together, 14.8 % without the ceiling as a cue. These rooms were looked at five times; what
is told and how wide ranges are was chosen on others. Where the rest comes from: the estimator was told the
truth of one matter at a time (`--only truths --rooms 100`, rooms 0-99, which have served to choose; medians
of a hundred rooms move by a point with chance, mean errors are in the log):

| told | totals of five: error | one in ten |
|---|---|---|
| nothing | 11.6 % | 29 % |
| lens | 10.8 % | 29 % |
| outlines to the pixel | 11.0 % | 28 % |
| roll | 10.9 % | 30 % |
| tilt | 10.6 % | 29 % |
| whole outlines, as if nothing stood before a thing | 12.7 % | 25 % |
| labels | 10.3 % | 25 % |
| what classes measure in the shops of these rooms | 11.3 % | 26 % |
| height of the camera | 10.4 % | 25 % |
| lens, tilt, roll and height of the camera | 9.7 % | 23 % |
| the same, labels and whole outlines | 7.5 % | 19 % |
| the same, and what classes measure | 6.8 % | 19 % |
| all but the depth of things | 3.3 % | 8 % |
| no photo at all, but what classes measure there | 15.0 % | 32 % |

So the height of the camera and the labels cost most. Lens, tilt, roll, better outlines and what classes
measure, each by itself, bring nothing to totals that chance would not. Furniture and ceilings vary, and tell
the camera's height no better than to 6 %: who wants totals nearer than 12 % tells the height of the camera,
lays a sheet of A4 on the floor, or brings depth.

With exact depth, which knows its lens (`--only depth --first 1000 --rooms 100`), totals are off by 5.0 %
and their ranges hold 79 % (71 % before one thing in twenty was believed to be farther off than its range
tells):

| slice | things | error | holds | totals | error | holds |
|---|---|---|---|---|---|---|
| camera 0.8-1.0 m | 100 | 5.7 % | 78 % (66-87) | 20 | 6.9 % | 70 % (48-85) |
| camera 1.0-1.2 m | 85 | 3.6 % | 81 % (68-90) | 17 | 4.9 % | 76 % (53-90) |
| camera 1.2-1.4 m | 80 | 4.1 % | 76 % (61-87) | 16 | 2.8 % | 69 % (44-86) |
| camera 1.4-1.6 m | 100 | 4.6 % | 84 % (76-90) | 20 | 3.9 % | 100 % (84-100) |
| camera 1.6-1.9 m | 135 | 4.0 % | 86 % (79-91) | 27 | 5.2 % | 78 % (59-89) |
| 13-16 mm | 210 | 4.9 % | 78 % (69-85) | 42 | 6.0 % | 69 % (54-81) |
| 24-28 mm | 210 | 3.8 % | 83 % (78-88) | 42 | 3.0 % | 86 % (72-93) |
| 35-50 mm | 80 | 3.2 % | 86 % (77-92) | 16 | 5.5 % | 88 % (64-96) |
| tilt under 6° | 95 | 4.6 % | 76 % (63-85) | 19 | 6.2 % | 63 % (41-81) |
| tilt 6-14° | 185 | 4.4 % | 81 % (74-87) | 37 | 5.2 % | 81 % (66-91) |
| tilt over 14° | 220 | 4.0 % | 85 % (78-89) | 44 | 4.3 % | 84 % (71-92) |
| all | 500 | 4.2 % | 82 % (77-85) | 100 | 5.0 % | 79 % (70-86) |

A hundred rooms leave totals of one slice open by 10 to 25 % either way. Rooms whose ceilings were all 2.4 m
high and whose walls were bare and far (600-699) gave 4.0 % and 86 %, totals 4.2 % and 79 %.

With depth as a phone's sensor gives it, 256 x 192, noisy and blurred where a thing ends (`--only blurred`,
rooms 540-559): totals 15 %, ranges hold 75 %. Until now such depth put air behind a thing: totals
were five times too large, and no range held.

With something of known size in sight (`--only anchors --first 5200 --rooms 24`, 23 rooms with a floor),
totals of five without depth: 16 % (one in ten off by 35 % or more); with a sheet of A4 on the floor 10 %
(28 %); with the width of the largest thing given 12 % (27 %). Figures of blurred depth are of rooms
with exact EXIF.

Where it is weak: what hangs on a wall is 1.2 times too large without depth; half of it is off by 37 %. With
exact depth most things are off by 4 % and one in ten by far more, and a total's range does not know which:
it leaves room for one in twenty. Things that touch are told apart by their outlines, and an outline three
pixels too large takes a part of the neighbour."""

SCORER = """\
The same code scores predictions that come with official results. `stated` is what the official programs
say; ANLS is stated to three digits. DP-Bench's harness reads tables, headings and text before comparing; its
reading was followed, so that the pages with tables agree as well as those without."""

WORDS = {
    "omnidocbench_v1.5": """\
Text edit ignores spaces and punctuation. `texts_edit_whole` weighs by length, and newspapers are long.""",
    "omnidocbench_v1.6": """\
v1.6 cleans and matches differently and counts formulas and tables in the reading order, so unread formulas
cost order too. Compare numbers of one protocol only.""",
    "pubtabnet_tables": "The table network gets the whole picture: this is what the benchmark asks.",
    "pubtabnet": """\
The same pictures through the whole recipe. A layout model made for pages sees some of these cut-out tables as
text; most of those are known for tables by their rows.""",
    "sroie": """\
The truth lists lines from top to bottom; what stands side by side is read in another order, which the
character rates count as errors and the word scores do not.""",
    "sroie_fields": """\
No model here extracts fields; this asks only whether a field's text can be found on one line of what was
read. Addresses run over several lines.""",
    "korean_book_pictures": """\
The truth is the PDF's own text layer, which lacks many word spaces. Page headers are left out of Markdown and
count as missing.""",
    "korean_book_pictures_body": """\
The same pictures; running heads and bullets are taken out of the truth, as below. What is left is what was
read wrong: names in two scripts, rare syllables, the numbers of a contents page.""",
    "korean_book_body": """\
The same pages; a first line that most pages have and bullets are taken out of the truth: Markdown leaves
running heads out and writes bullets as list marks. What is left is what was read wrong. The spacing rate says
little of line ends: the layer breaks every line, and a break counts as a space, also inside a word.""",
    "korean_book_layer": """\
With the layer nothing is recognised: what is left are page headers, titles set apart, contents pages and
addresses out of order, and here and there a word lost at a line's end.""",
    "korean_report_pictures": """\
Diagrams, tables and screenshots between short texts; pages without a whole text layer are left out. Words in
diagrams are on the page but in an order nobody can state, which the character rates do not forgive.""",
    "korean_report_layer": """\
The same pages with their layer. It has framed text last, which stands in the middle of the page, and running
heads, which Markdown leaves out: most of the loss is the truth's order, not letters.""",
    "korean_report_body": """\
The layer's lines from top to bottom, without running heads and bullets. Every word of it is read, and in its
place; what is left over are the words of screenshots, which we read and the layer does not have.""",
    "turned": "Pages turned by 90, 180 and 270 degrees are put upright first.",
    "glmocr": """\
A page, a paper, code, a table, handwriting and a seal as GLM-OCR read them. It writes formulas and code,
which we do not; agreement says how far apart the two are, not who is right.""",
}
