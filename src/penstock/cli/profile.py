"""`penstock profile`: where the time of a run went."""

from __future__ import annotations

import json

from penstock.cli.options import AsJson, Config, Log, Out


def profile(out: Out, config: Config = None, log: Log = None, as_json: AsJson = False) -> None:
    """Say where the time went, what bounds it and what to change. The picture is OUT/profile.html."""
    from penstock.trace import report

    found = report.read(out)
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
        return
    print(report.render_text(found))
    print(f"\n{report.bottleneck_sentence(found)}\nPicture: {out / 'profile.html'}")
