#!/usr/bin/env bash
# What the recipes that ask a model server need: one table for setup.sh, serve.sh, the image and compose.
#   recipes.sh model RECIPE        what its server is started with: penstock engine start MODEL
#   recipes.sh weights RECIPE...   the weights to fetch, by hub name, each once; `all` for every recipe
set -euo pipefail

LAYOUT=PaddlePaddle/PP-DocLayoutV3_safetensors
ALL=(glm-ocr paddleocr-vl grounded grounded-2 embed) # embed: what `penstock run` embeds with

row() {
    case $1 in
    glm-ocr) echo "glm-ocr zai-org/GLM-OCR $LAYOUT" ;;
    paddleocr-vl) echo "paddleocr-vl PaddlePaddle/PaddleOCR-VL-1.5 $LAYOUT" ;;
    grounded) echo "deepseek-ocr deepseek-ai/DeepSeek-OCR" ;;
    grounded-2) echo "deepseek-ocr-2 deepseek-ai/DeepSeek-OCR-2" ;;
    embed) echo "Qwen/Qwen3-VL-Embedding-2B Qwen/Qwen3-VL-Embedding-2B" ;;
    *)
        printf 'recipes: %s is no recipe with a server. Choose from: %s\n' "$1" "${ALL[*]}" >&2
        return 2
        ;;
    esac
}

weights() {
    local recipe line name told=" "
    if [[ $* == all ]]; then
        set -- "${ALL[@]}"
    fi
    for recipe in "$@"; do
        line=$(row "$recipe")
        for name in ${line#* }; do
            if [[ $told != *" $name "* ]]; then
                printf '%s\n' "$name"
                told+="$name "
            fi
        done
    done
}

model() {
    local line
    line=$(row "$1")
    printf '%s\n' "${line%% *}"
}

case ${1:-} in
model) model "${2:?a recipe}" ;;
weights) weights "${@:2}" ;;
*)
    sed -n '3,4s/^# *//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
