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

- **Formulas on pictures are not read.** There is no formula model inside: formula edit is 1.0 wherever there
  is one. Those of born-digital pages are put together from where their signs stand: 49 of 50 set by Typst
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
- **Not measured here**, for want of pictures or of a truth: DP-Bench, OCRBench, handwritten lines, street
  photos, other languages than English, Chinese and Korean."""

PHOTOS = """\
## Sizes in photos

`benchmarks/cpu/bench_objects.py --only rooms` and `--only depth`: rooms of five things in sizes that
furniture is sold in, cast by cameras 0.8 to 1.9 m above the floor with 13 to 50 mm, tilted and rolled,
through lenses that bend; EXIF in six of ten, things that hide one another or are cut by the frame, 7 %
wrong labels, 6 % failed outlines. Nothing is drawn from what the estimator assumes, and it was tuned on
other rooms of the same make. The rooms are cast boxes, not photographs: outlines are better than a
detector's. Median error of the volume, and how often a range that promises 80 % holds the truth, 200 rooms:

| slice | things: error | holds | totals of five: error | holds | until now: totals' error | holds |
|---|---|---|---|---|---|---|
| camera 0.8-1.0 m | 26 % | 78 % | 14 % | 82 % | 61 % | 24 % |
| camera 1.0-1.2 m | 25 % | 79 % | 12 % | 84 % | 32 % | 48 % |
| camera 1.2-1.4 m | 23 % | 73 % | 14 % | 80 % | 25 % | 54 % |
| camera 1.4-1.6 m | 20 % | 82 % | 14 % | 92 % | 14 % | 82 % |
| camera 1.6-1.9 m | 21 % | 81 % | 14 % | 84 % | 18 % | 60 % |
| 13-16 mm | 22 % | 81 % | 14 % | 83 % | 18 % | 59 % |
| 24-28 mm | 23 % | 80 % | 15 % | 88 % | 25 % | 55 % |
| 35-50 mm | 24 % | 73 % | 14 % | 79 % | 32 % | 45 % |
| tilt under 6° | 30 % | 69 % | 15 % | 73 % | 51 % | 32 % |
| tilt 6-14° | 23 % | 83 % | 14 % | 91 % | 24 % | 58 % |
| tilt over 14° | 20 % | 80 % | 13 % | 84 % | 18 % | 61 % |
| EXIF | 22 % | 80 % | 15 % | 82 % | 24 % | 53 % |
| no EXIF | 23 % | 77 % | 12 % | 89 % | 22 % | 56 % |
| all | 23 % | 79 % | 14 % | 84 % | 23 % | 55 % |

| things | n | error | holds | until now: error | holds |
|---|---|---|---|---|---|
| plain | 538 | 20 % | 80 % | 28 % | 56 % |
| cut by the frame | 340 | 23 % | 82 % | 33 % | 55 % |
| outline failed | 59 | 21 % | 80 % | 35 % | 58 % |
| label wrong | 69 | 38 % | 68 % | 47 % | 36 % |
| not on the floor | 70 | 88 % | 67 % | 99 % | 60 % |

On 40 other rooms (`--only rooms --first 400 --rooms 40`) things are off by 23 % and ranges hold 78 %, totals
by 19 % and 90 %: forty rooms are few, and 14 % is no better known than that.

With exact depth, which knows its lens (`--only depth`), before and after 2026-11-17. Rooms 0-59 were
developed on, 300-339 were looked at before. Rooms 400-439 were measured once before the ranges were
narrowed, by rooms 0-59; nothing was chosen by rooms 500-539.

| rooms | things: error | one in ten | holds | totals of five: error | one in ten | bias | holds |
|---|---|---|---|---|---|---|---|
| 400-439, before | 11.9 % | 35 % | 90 % | 7.0 % | 21 % | 1.02 | 92 % |
| 400-439 | 2.5 % | 17 % | 86 % | 3.9 % | 13 % | 0.98 | 85 % |
| 500-539 | 2.1 % | 16 % | 84 % | 3.1 % | 10 % | 1.01 | 75 % |

| slice of these 80 rooms | things: error | holds | totals | error | holds |
|---|---|---|---|---|---|
| camera 0.8-1.0 m | 1.5 % | 98 % | 9 | 1.7 % | 100 % |
| camera 1.0-1.2 m | 3.7 % | 84 % | 5 | 6.6 % | 60 % |
| camera 1.2-1.4 m | 2.8 % | 89 % | 15 | 3.2 % | 73 % |
| camera 1.4-1.6 m | 1.9 % | 82 % | 21 | 3.0 % | 76 % |
| camera 1.6-1.9 m | 2.3 % | 83 % | 30 | 3.6 % | 83 % |
| 13-16 mm | 2.3 % | 93 % | 27 | 2.2 % | 93 % |
| 24-28 mm | 2.2 % | 81 % | 34 | 4.3 % | 68 % |
| 35-50 mm | 2.6 % | 84 % | 19 | 5.4 % | 84 % |
| tilt under 6° | 2.1 % | 88 % | 8 | 3.3 % | 75 % |
| tilt 6-14° | 1.8 % | 94 % | 20 | 5.0 % | 85 % |
| tilt over 14° | 2.4 % | 82 % | 52 | 3.2 % | 79 % |
| all | 2.3 % | 86 % | 80 | 3.4 % | 80 % |

With depth as a phone's sensor gives it, 256 x 192, noisy and blurred where a thing ends (`--only blurred`,
rooms 540-559): totals 15 %, ranges hold 75 %. Until now such depth put air behind a thing: totals
were five times too large, and no range held.

With something of known size in sight (`--only anchors --first 5200 --rooms 24`, 23 rooms with a floor),
totals of five without depth: 12 % (one in ten off by 38 % or more); with a sheet of A4 on the floor 10 %
(26 %); with the width of the largest thing given 14 % (33 %).

Where it is weak: without depth totals are off by 14 % and not by the 12 % that were aimed at; what hides a
thing's depth hides it from us too. Cameras held level, things not on the floor and wrong labels have ranges
that hold less than they promise. With exact depth 75 to 85 % are not held in every slice: of 13-16 mm ranges
are too wide, because EXIF's whole millimetres may be off by 4 % there and these rooms' are exact; totals at
24-28 mm hold 68 %, and below 1.2 m there are too few to say (14 totals): most things are off by 2 %, one in
ten by 17 %, and a total's range does not know which. What hangs on a wall and is seen in part holds 57 %.
Things that touch are told apart by their outlines, and an outline three pixels too large takes a part of the
neighbour."""

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
