#!/usr/bin/env bash
# One slice of training on a machine with a GPU, from the repository's root; the checkpoint goes to $OUT, too.
#
#   tools/hangul/go.sh MINUTES TOTAL
#
# MINUTES of this slice and TOTAL minutes of the whole training. build/hangul holds what prepare.py made and, from the
# second slice on, the checkpoint of the one before in build/hangul/checkpoint.
set -euo pipefail

minutes=$1
total=$2
data=${DATA:-build/hangul}
checkpoint=$data/checkpoint
export PYTHONPATH=src:tools/training OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# also when the last check fails: what was learned comes back
trap 'if [ -n "${OUT:-}" ] && [ -d "$checkpoint" ]; then cp -r "$checkpoint" "$OUT"/; fi' EXIT

"${PYTHON:-python3}" tools/hangul/train.py --data "$data" --checkpoint "$checkpoint" \
  --again "${AGAIN:-3}" --minutes "$minutes" --total-minutes "$total" --workers "${WORKERS:-14}"
