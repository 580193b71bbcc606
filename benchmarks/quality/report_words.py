"""The sentences of docs/quality.md; `score_all.py` puts the tables between them."""

INTRODUCTION = """\
The built-in recipe is made of small models that run on any processor. It is there so that Penstock works
at once and without a network, not to win benchmarks; the vision-language models Penstock can call publish
far better scores, formulas and handwriting included. Every data set below is small, so mind the intervals;
what is done by rules (order, tables among text, spaces between Korean lines) was developed on these pages.
Beside the official scores stand ours: `invented` (text that is on no page), and for Korean the character
error rate with word spaces and the part of gaps that are spaced wrongly."""

WEAK = """\
## Where it is weak

- **Formulas are not read.** There is no formula model inside: formula edit is 1.0 wherever there is one.
- **Tables** in handwritten notes and on exam papers may be missed; they are lines of text then and score 0.
  Tables that are found without the layout model have no crop.
- **Receipts**: most words are there. Character error rates punish the order as much as the letters, and the
  truth is in capitals, so see the words.
- **Photographed pages** are not flattened: a page at an angle is read as it lies.
- **Handwriting, seals**: not made for any of them. Handwritten notes lose a quarter of their text.
- **Contents pages and diagrams** lose their order: numbers stand apart from what they number.
- **Not measured here**, for want of pictures or of a truth: DP-Bench, OCRBench, handwritten lines, street
  photos, other languages than English, Chinese and Korean."""

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
    "korean_book_layer": """\
With the layer nothing is recognised: what is left are page headers, titles set apart, contents pages and
addresses out of order, and here and there a word lost at a line's end.""",
    "korean_report_pictures": """\
Diagrams, tables and screenshots between short texts; pages without a whole text layer are left out. Words in
diagrams are on the page but in an order nobody can state, which the character rates do not forgive.""",
    "korean_report_layer": "The same pages with their layer: most of the loss is order, not letters.",
    "turned": "Pages turned by 90, 180 and 270 degrees are put upright first.",
    "glmocr": """\
A page, a paper, code, a table, handwriting and a seal as GLM-OCR read them. It writes formulas and code,
which we do not; agreement says how far apart the two are, not who is right.""",
}
