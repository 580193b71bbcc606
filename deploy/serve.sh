#!/usr/bin/env bash
# Runs one model server in the foreground with the flags of a preset, for a container to watch.
# The model is that of RECIPE, or MODEL where that is set. The numbers and their reasons stay in one place:
# penstock engine start --dry-run.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
recipes=$(command -v penstock-recipes || echo "$here/recipes.sh")
model=${MODEL:-$("$recipes" model "${RECIPE:-glm-ocr}")}
lines=$(penstock engine start "$model" --preset "${PRESET:-auto}" --port "${PORT:-8000}" --dry-run -- --host 0.0.0.0)
# the first line is the first server's command, quoted for a shell, with its variables before it
eval "exec env ${lines%%$'\n'*}"
