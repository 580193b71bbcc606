"""`penstock serve`: a run over HTTP, and documents that are sent to be read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli.options import (
    of_output,
    of_reading,
    of_running,
    of_servers,
    with_options,
)
from penstock.cli.running.listening import listening_on
from penstock.errors import UsageError
from penstock.extras import need_extra
from penstock.options.option import Option, values_of, without
from penstock.options.photos import PATHS, PHOTO_READING
from penstock.options.reading import READING

OUT = Path("served")
ENGINE = Option(
    name="engine", type=str, group="Servers", offers=("vllm", "hf", "silhouette", "sam3d"),
    help="grounded: vllm or hf. photos: silhouette or sam3d.",
)  # fmt: skip
OF_DOCUMENTS = without(READING, "password", "engine")
OF_PHOTOS = tuple(option for option in PHOTO_READING if option.name in ("detector", "labels"))
READ = (*OF_DOCUMENTS, ENGINE, *OF_PHOTOS)
SAM3D_PATHS = tuple(PATHS.values())
NEW_KEY_HELP = (
    "Add a key to --keys, print it once, and end: NAME, NAME:SCOPE or NAME:SCOPE:REQUESTS_A_MINUTE:MB."
)
Keys = Annotated[Path | None, of_servers(help="File of API keys. --new-key writes it.")]
NewKey = Annotated[str | None, of_servers(help=NEW_KEY_HELP)]
ServedRecipe = Annotated[
    str | None,
    of_reading(help="Recipe that reads the documents that are sent. Default: documents, where OUT is new."),
]
HostNames = Annotated[
    list[str] | None,
    of_servers(
        help="Host name that clients use, such as the proxy's. IP addresses and localhost are always"
        " accepted. Repeatable."
    ),
]
Origins = Annotated[
    list[str] | None,
    of_servers(help="Origin whose web pages may use the API, such as https://app.example.org. Repeatable."),
]
UrlHosts = Annotated[
    list[str] | None,
    of_servers(help="Host from which files may be fetched; *.NAME allows all its subdomains. Repeatable."),
]
CallbackTargets = Annotated[
    list[str] | None,
    of_servers(
        help="Target of callbacks: NAME[:PORT], *.NAME, or a private ADDRESS[:PORT] or NETWORK/BITS."
        " Repeatable."
    ),
]
CallbackSecret = Annotated[Path | None, of_servers(help="File with the secret that signs callbacks.")]
JobsAtOnce = Annotated[
    int | None,
    of_running(
        help="How many jobs with options of their own run at once. Default: 2, or 1 with a GPU.",
        min=1,
        max=16,
    ),
]
KeepHours = Annotated[
    float | None, of_output(help="Hours after its end at which a job's results are deleted.", min=0)
]


@with_options(*READ, *SAM3D_PATHS)
def serve(
    given: dict[str, Any],
    out: Annotated[Path, typer.Argument(help="The folder of a run, or of a new one.")] = OUT,
    recipe: ServedRecipe = None,
    host: Annotated[str, of_servers(help="Address to listen on; 0.0.0.0 for all.")] = "127.0.0.1",
    port: Annotated[int, of_servers(help="Port to listen on.", min=0, max=65535)] = 8080,
    allow_host: HostNames = None,
    allow_origin: Origins = None,
    max_mb: Annotated[int, of_servers("--max-mb", help="Refuse larger requests.", min=1)] = 512,
    keys: Keys = None,
    new_key: NewKey = None,
    allow_url_host: UrlHosts = None,
    allow_callback: CallbackTargets = None,
    callback_secret: CallbackSecret = None,
    keep_hours: KeepHours = None,
    jobs_at_once: JobsAtOnce = None,
) -> None:
    """Show a run's documents, pages and search, and with a recipe read what is sent.

    Without --keys there is no login: keep it on this machine, or behind a proxy that has one (then
    --allow-host its name).
    """
    if new_key is not None:
        _print_new_key(keys, new_key)
        return
    sam3d = {name: given[option.name] for name, option in PATHS.items() if option.name in given}
    with listening_on(host, port) as listening:
        need_extra("serve", "The service")
        from penstock.cli.running.serve import Operating, run_service

        operating = Operating(
            max_mb=max_mb, names=allow_host or (), origins=allow_origin or (), keys=keys,
            url_hosts=allow_url_host or (), callback_targets=allow_callback or (),
            callback_secret=callback_secret, keep_hours=keep_hours, jobs_at_once=jobs_at_once,
        )  # fmt: skip
        run_service(out, recipe, values_of(READ, given), sam3d, listening, operating)


def _print_new_key(path: Path | None, wanted: str) -> None:
    from penstock.serve.guard.keys import new_key

    if path is None:
        raise UsageError("--new-key needs a file to add the key to.", "Name it: --keys keys.json.")
    name, scope, rate, max_mb, *_ = (*wanted.split(":"), "", "", "")
    if not (rate or "0").isdecimal() or not (max_mb or "0").isdecimal():
        raise UsageError(f"--new-key {wanted} is no key.", "Write NAME:SCOPE:REQUESTS_A_MINUTE:MB.")
    print(new_key(path, name, scope or "write", int(rate or 0), int(max_mb or 0)))
