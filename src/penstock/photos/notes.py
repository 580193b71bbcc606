"""How a thing was measured, in the words that rows, the table and the report use."""

from __future__ import annotations

CAMERA_GIVEN = "camera height given"
CAMERA_BY_DEPTH = "camera by depth"
CAMERA_FOUND = "camera found by what is in the photo"
LENS_BY_EXIF = "lens by EXIF"
LENS_BY_DEPTH = "lens by depth model"
LENS_GUESSED = "lens guessed"
BOX_TAKEN = "outline failed, box taken"
LABEL_NOT_SEEN = "label given, not seen"
NOT_ITS_LABEL = "may not be what its label says"
NOT_ON_FLOOR = "not on the floor"
CUT = "cut by the photo's edge"
HIDDEN = "hidden in part"
SIZE_KNOWN = "size given"
AT_ODDS = "at odds with photo and class"
UNKNOWN_KIND = "of no known kind"
