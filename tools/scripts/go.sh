#!/usr/bin/env bash
# One slice of training on a machine with a GPU, from the repository's root; the checkpoint goes to $OUT, too.
#
#   tools/scripts/go.sh MINUTES TOTAL
#
# MINUTES of this slice and TOTAL minutes of the whole training. build/scripts holds what script_prepare.py made;
# the checkpoint lies in build/scripts-checkpoint. A wheel of uharfbuzz in build/scripts is used where it is not installed.
set -euo pipefail

minutes=$1
total=$2
data=${DATA:-build/scripts}
checkpoint=${CHECKPOINT:-build/scripts-checkpoint}
wheels=$(mktemp -d)
for wheel in "$data"/*.whl; do if [ -f "$wheel" ]; then "${PYTHON:-python3}" -m zipfile -e "$wheel" "$wheels"; fi; done
export PYTHONPATH=src:tools/training:tools/hangul:$wheels OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# also when the last check fails: what was learned comes back
trap 'if [ -n "${OUT:-}" ] && [ -d "$checkpoint" ]; then cp -r "$checkpoint" "$OUT"/; fi' EXIT

"${PYTHON:-python3}" tools/scripts/script_train.py --data "$data" --checkpoint "$checkpoint" --check-lines 60 \
  --again "${AGAIN:-3}" --minutes "$minutes" --total-minutes "$total" --workers "${WORKERS:-14}"
