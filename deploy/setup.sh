#!/usr/bin/env bash
# Makes a bare CUDA machine ready: environment, Penstock, vLLM, weights, and a look at the result.
# Safe to run again: what is there is kept, what is missing is added.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(dirname "$here")

PYTHON=${PYTHON:-python3}
VENV=${VENV:-$repo/.venv-gpu}
VLLM=${VLLM:-vllm==0.26.0} # the release behind the numbers of the presets, made for CUDA 13
RECIPES=${RECIPES:-glm-ocr}
MODELS=${MODELS:-}
LEAST_DRIVER=580 # CUDA 13 asks for it
LEAST_DISK_GB=25 # environment 12, weights 3, compiled kernels and pip's cache the rest
ALL_WEIGHTS_GB=22 # of every recipe
dry_run=
models=

usage() {
    cat <<END
Usage: deploy/setup.sh [--dry-run]

  --dry-run   print what would be done, do nothing

Set in the environment to change it:
  PYTHON   the Python to build on, 3.11 or newer     ($PYTHON)
  VENV     where the environment goes                ($VENV)
  VLLM     what pip installs as the model server     ($VLLM)
  RECIPES  recipes to fetch the weights of; or: all  ($RECIPES)
  MODELS   weights to fetch instead, by hub name     ($MODELS)
END
}

say() { printf '%s\n' "$*"; }
warn() { printf 'setup: %s\n' "$*" >&2; }

# In a dry run nothing is missing that could not be there later.
need() {
    warn "$1"
    [[ -n $dry_run ]] || exit 2
}

run() {
    printf '+'
    printf ' %q' "$@"
    printf '\n'
    [[ -n $dry_run ]] || "$@"
}

check_gpu() {
    if ! command -v nvidia-smi >/dev/null; then
        need "there is no nvidia-smi. Install NVIDIA's driver, $LEAST_DRIVER or newer; without a GPU use: make demo"
        return
    fi
    local cards driver
    if ! cards=$(nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader); then
        need "nvidia-smi sees no GPU: $cards"
        return
    fi
    say "$cards"
    driver=$(sed -n '1s/.*, *//p' <<<"$cards")
    if ((${driver%%.*} < LEAST_DRIVER)); then
        warn "driver $driver is older than $LEAST_DRIVER; if the server does not start, update it or set VLLM"
    fi
}

check_python() {
    if ! command -v "$PYTHON" >/dev/null; then
        need "there is no $PYTHON. Set PYTHON to a Python of 3.11 or newer"
    elif ! "$PYTHON" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'; then
        need "$PYTHON is older than 3.11 or lacks venv (on Debian: apt-get install python3-venv)"
    fi
}

# Triton compiles its launchers when a server starts; without these it fails then, with a page of traceback.
check_compiler() {
    if ! command -v gcc >/dev/null && ! command -v cc >/dev/null; then
        warn "there is no C compiler, which the model server needs (on Debian: apt-get install gcc libc6-dev)"
    fi
    local headers
    headers=$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null || true)
    if [[ ! -e $headers/Python.h ]]; then
        warn "$PYTHON has no headers, which the model server needs (on Debian: apt-get install python3-dev)"
    fi
}

check_disk() {
    local free need=$LEAST_DISK_GB
    if [[ $RECIPES != glm-ocr ]]; then
        need=$((LEAST_DISK_GB + ALL_WEIGHTS_GB))
    fi
    free=$(df -Pk "$repo" | awk 'NR == 2 { print int($4 / 1048576) }')
    if ((free < need)); then
        warn "$free GB are free at $repo and up to $need are needed; set VENV and HF_HOME to a larger disk"
    fi
}

make_environment() {
    if [[ ! -x $VENV/bin/python ]]; then
        run "$PYTHON" -m venv "$VENV"
        [[ -n $dry_run ]] || printf '*\n' >"$VENV/.gitignore"
    fi
    # one call, so that torch and transformers fit both
    run "$VENV/bin/python" -m pip install --disable-pip-version-check -e "${repo}[gpu,vllm,search,hub]" "$VLLM"
}

fetch_models() {
    run "$VENV/bin/penstock" models fetch
    local name
    for name in $models; do
        run "$VENV/bin/python" -c "import huggingface_hub, sys; huggingface_hub.snapshot_download(sys.argv[1])" "$name"
    done
}

# before anything is installed: a recipe that is not there must not cost twenty minutes
weights() {
    # shellcheck disable=SC2086 # several recipes are several words
    "$here/recipes.sh" weights $RECIPES
}

main() {
    while (($#)); do
        case $1 in
        --dry-run) dry_run=yes ;;
        -h | --help)
            usage
            return
            ;;
        *)
            warn "there is no option $1"
            usage >&2
            exit 2
            ;;
        esac
        shift
    done
    models=${MODELS:-$(weights)}
    check_gpu
    check_python
    check_compiler
    check_disk
    make_environment
    fetch_models
    run "$VENV/bin/penstock" doctor
    [[ -n $dry_run ]] || say "Ready. Try: $VENV/bin/penstock parse FILE -o out --recipe ${RECIPES%% *}"
}

main "$@"
