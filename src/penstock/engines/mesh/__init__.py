"""SAM-3D: a thing in a photo to Gaussians, in an interpreter of its own. photos/ measures them."""
