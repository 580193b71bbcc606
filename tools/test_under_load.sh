#!/usr/bin/env bash
# Runs `make test`, or the command given, while ten busy loops a core keep the machine from it.
#
#   tools/test_under_load.sh
#   tools/test_under_load.sh .venv/bin/python -m pytest -q tests/processes
#
# The loops run at nice 5 and end with this script, however it ends.
set -euo pipefail
cd "$(dirname "$0")/.."
loops=()
end_loops() {
    for loop in "${loops[@]}"; do kill "$loop" 2> /dev/null || true; done
    wait 2> /dev/null || true
}
trap end_loops EXIT
trap 'exit 130' INT TERM HUP
for _ in $(seq $((10 * $(nproc)))); do
    # shellcheck disable=SC2016  # the inner shell expands them
    nice -n 5 sh -c 'while kill -0 "$1" 2> /dev/null; do i=0; while [ "$i" -lt 100000 ]; do i=$((i + 1)); done; done' - "$$" &
    loops+=("$!")
done
if [ "$#" -eq 0 ]; then set -- make test; fi
"$@"
