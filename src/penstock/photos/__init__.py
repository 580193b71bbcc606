"""What a thing in a photo is: camera, depth, clouds, sizes, furniture. No models, no files of OUT."""
