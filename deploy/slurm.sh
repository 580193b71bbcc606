#!/usr/bin/env bash
# A Slurm array that reads one corpus into one OUT: sbatch --array=1-64 deploy/slurm.sh /data/pdfs /data/out
# A rank that is preempted or fails is put back into the queue and goes on where it stopped.
#SBATCH --job-name=penstock
#SBATCH --cpus-per-task=8
#SBATCH --mem=24G
#SBATCH --requeue
#SBATCH --signal=B:TERM@60
set -euo pipefail

inputs=${1:?first the inputs}
out=${2:?then OUT}
shift 2 # the rest are options of penstock parse

# exec: Slurm's SIGTERM reaches Penstock, which commits what is finished
exec penstock parse "$inputs" -o "$out" --partition "${SLURM_ARRAY_TASK_ID:?run it as an array}/${SLURM_ARRAY_TASK_COUNT:?}" --quiet "$@"
