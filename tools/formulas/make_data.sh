#!/usr/bin/env bash
# Makes the shards that train.py reads: formulas, their layouts by MathJax, packed. Goes on where it was stopped.
#
#   (cd tools/formulas && npm install)
#   FONTS=folder-of-otf-files tools/formulas/make_data.sh OUT [batches] [formulas a batch]
#
# FONTS holds texgyre{schola,bonum,dejavu,pagella}-math.otf and STIXMath-Regular.otf, as in Debian's packages
# fonts-texgyre-math and fonts-stix. PYTHON needs numpy and fonttools.
# One core lays out some 100 formulas a second; 25 batches of 6,000 make about 20 MB.
set -euo pipefail

out=$(realpath -m "$1")
batches=${2:-25}
count=${3:-6000}
python=${PYTHON:-python3}
here=$(cd "$(dirname "$0")" && pwd)
build=$out/build
mkdir -p "$build"

lay_out() { # name seed count fonts...
  local name=$1 seed=$2 number=$3
  shift 3
  [ -s "$build/$name.tsv" ] ||
    { (cd "$here" && "$python" grammar.py --count "$number" --seed "$seed" --fonts "$@") > "$build/$name.part" &&
      mv "$build/$name.part" "$build/$name.tsv"; }
  node "$here/render.mjs" --out "$build/$name.jsonl" --glyphs "$build/$name.json" --seconds 3600 < "$build/$name.tsv"
}

lay_out test 900001 1000 termes
for batch in $(seq 1 "$batches"); do
  lay_out "train$batch" $((100 + batch)) "$count" newcm stix2 newcm stix2 tex stix2 modern newcm
done

cd "$here"
"$python" pack.py --layouts "$build"/test.jsonl --glyphs "$build"/test.json --out "$out" --name test \
  --fonts "pagella=$FONTS/texgyrepagella-math.otf"
"$python" pack.py --layouts "$build"/train*.jsonl --glyphs "$build"/train*.json --without "$build/test.jsonl" \
  --out "$out" --name train --fonts "schola=$FONTS/texgyreschola-math.otf" "bonum=$FONTS/texgyrebonum-math.otf" \
  "dejavu=$FONTS/texgyredejavu-math.otf" "stix=$FONTS/STIXMath-Regular.otf"
