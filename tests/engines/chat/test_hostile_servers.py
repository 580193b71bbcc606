"""The chat client against something that speaks HTTP but is no model server, or a broken one."""

from __future__ import annotations

import base64
import contextlib
import gzip
import hashlib
import json
import threading
import time
import urllib.error
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from penstock import repetition
from penstock.engines.chat import server as chat_server
from penstock.engines.chat.address import base_url
from penstock.engines.chat.client import Answer, ChatClient
from penstock.errors import EngineError, OpenError
from penstock.trace import vllm_metrics
from tests.support.asking import GLM, answer_of, error_of, request

Says = Callable[[BaseHTTPRequestHandler], None]


@contextlib.contextmanager
def speaking(chat: Says, models: bytes = b'{"data": [{"id": "m"}]}') -> Iterator[str]:
    """An address whose chat route is answered by `chat`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            send(self, models if self.path == "/v1/models" else b"")

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            with contextlib.suppress(ConnectionError):
                chat(self)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def send(
    handler: BaseHTTPRequestHandler,
    body: bytes,
    kind: str = "application/json",
    status: int = 200,
    **more: str,
) -> None:
    handler.send_response(status)
    headers = {
        "Content-Type": kind,
        "Connection": "close",
        **{k.replace("_", "-"): v for k, v in more.items()},
    }
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def asked(chat: Says, tokens: int = 64, **models: bytes) -> Answer | EngineError:
    with (
        speaking(chat, **models) as url,
        ChatClient([url], GLM, retries=1, timeout_s=60.0, down_s=60.0) as client,
    ):
        [outcome] = client.ask([request(tokens=tokens)])
    return outcome


def message(content: object, **usage: object) -> bytes:
    choice = {"message": {"content": content}, "finish_reason": "stop"}
    return json.dumps({"choices": [choice], "usage": usage}).encode()


@pytest.mark.parametrize(
    "body",
    [
        b"null",
        b"[]",
        b'{"choices": []}',
        b"[" * 100_000,
        b"<html>A page</html>",
        message(42),
        message([{"type": "text", "text": "hello"}]),
        message({"a": 1}),
    ],
)
def test_what_is_no_answer_is_a_sentence(body: bytes) -> None:
    outcome = error_of(asked(lambda handler: send(handler, body)))
    assert outcome.message.startswith("The server's answer cannot be read: ")


@pytest.mark.parametrize("event", [b"null", b"[1]", b"{", b'{"choices": [{"delta": {"content": 5}}]}'])
def test_an_event_that_is_no_part_of_an_answer_is_a_sentence(event: bytes) -> None:
    stream = b"data: " + event + b"\n\n"
    outcome = error_of(asked(lambda handler: send(handler, stream, "text/event-stream"), tokens=4096))
    assert outcome.message.startswith("The server's answer cannot be read: ")


def test_costs_that_are_no_numbers_cost_no_answer() -> None:
    body = message("hello", prompt_tokens="7", completion_tokens=[1])
    assert answer_of(asked(lambda handler: send(handler, body))).text == "hello"


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
def test_an_answer_without_end_is_left(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_server, "MAX_ANSWER_BYTES", 1 << 20)

    def endless(handler: BaseHTTPRequestHandler) -> None:
        send(handler, b'{"choices": [{"message": {"content": "', kind)
        while True:
            handler.wfile.write(b"a" * 65536)

    assert "longer than 1 MB" in error_of(asked(endless, tokens=4096)).message


@pytest.mark.parametrize("after", ["0", "nan", "-5"])
def test_a_full_server_that_wants_to_be_asked_at_once_is_not_hammered(after: str) -> None:
    """It was, and after 1,025 times in a few seconds the asker waited for ever."""
    asks: list[float] = []

    def full(handler: BaseHTTPRequestHandler) -> None:
        asks.append(time.monotonic())
        send(handler, b'{"error": "full"}', status=503, Retry_After=after)

    with speaking(full) as url, ChatClient([url], GLM, retries=0, timeout_s=1.0) as client:
        [outcome] = client.ask([request()])
    assert error_of(outcome).message  # that it is full, or on a busy machine that it was late
    assert 0 < len(asks) < 100


def test_a_fault_of_ours_after_an_answer_ends_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    from penstock.engines.chat.dispatcher import Dispatcher

    def broken(*_: object) -> None:
        raise ArithmeticError("a fault of ours")

    monkeypatch.setattr(Dispatcher, "_answered", broken)
    outcome = error_of(asked(lambda handler: send(handler, message("hello"))))
    assert "a fault of ours" in outcome.message


@pytest.mark.parametrize("length", [b"0", b"-5", b"null", b'"long"'])
def test_a_context_that_is_no_length_is_not_believed(length: bytes) -> None:
    models = b'{"data": [{"id": "m", "max_model_len": ' + length + b"}]}"
    assert answer_of(asked(lambda handler: send(handler, message("ok")), models=models)).text == "ok"


def test_a_web_page_where_a_server_should_be_is_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.engines.chat.dispatcher.FIRST_CONTACT_S", 0.6)
    outcome = error_of(asked(lambda handler: send(handler, b""), models=b"<html>Welcome</html>"))
    assert "not a model server" in outcome.message


def test_a_run_that_waits_for_a_server_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("penstock.engines.chat.dispatcher.AWAY_LOOK_S", 0.05)
    monkeypatch.setattr("penstock.engines.chat.dispatcher.TELL_S", 0.1)
    with speaking(lambda handler: send(handler, message("hello"))) as url:
        client = ChatClient([url], GLM, timeout_s=60.0, down_s=0.5)
        client.ask([request(1)])
    with client:  # the server is gone
        error_of(client.ask([request(2)])[0])
    assert "no model server answers" in caplog.text


def test_a_picture_that_cannot_be_scaled_fails_alone() -> None:
    def broken(image: bytes, scale: float) -> bytes:
        raise ArithmeticError("no such size")

    def too_large(handler: BaseHTTPRequestHandler) -> None:
        send(handler, b'{"error": "too large"}', status=413)

    with speaking(too_large) as url, ChatClient([url], GLM, smaller=broken) as client:
        [outcome] = client.ask([request()])
    assert "no such size" in error_of(outcome).message


def test_a_redirect_is_refused_and_the_page_goes_nowhere_else() -> None:
    elsewhere: list[str] = []

    def note(handler: BaseHTTPRequestHandler) -> None:
        elsewhere.append(handler.path)
        send(handler, message("stolen"))

    with speaking(note) as other:
        there = f"{other}/v1/chat/completions"
        with pytest.raises(OpenError, match=r"sends us elsewhere \(HTTP 307\)"):
            asked(lambda handler: send(handler, b"", status=307, Location=there))
    assert elsewhere == []


def test_a_server_that_only_redirects_counts_as_not_there() -> None:
    class Away(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            send(self, b"", status=302, Location="http://127.0.0.1:9/login")

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Away)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}"
        with ChatClient([url], GLM, retries=0, down_s=0.2) as client:
            [outcome] = client.ask([request()])
        with pytest.raises(urllib.error.HTTPError, match="302"):
            vllm_metrics.fetch(url, 5.0)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert isinstance(outcome, EngineError)
    assert "sends us elsewhere (HTTP 302)" in outcome.message


def test_a_servers_words_cannot_steer_the_terminal() -> None:
    words = b'{"error": {"message": "\\u001b[2J\\u001b]0;owned\\u0007 no"}}'
    outcome = asked(lambda handler: send(handler, words, status=400))
    assert isinstance(outcome, EngineError)
    assert outcome.message.isprintable()
    assert "no" in outcome.message


def test_user_and_password_of_an_address_go_to_the_server_and_nowhere_else() -> None:
    came: list[str | None] = []

    def note(handler: BaseHTTPRequestHandler) -> None:
        came.append(handler.headers["Authorization"])
        send(handler, message("read"))

    with speaking(note) as url:
        address = url.replace("://", "://me:s3cret%21@")
        with ChatClient([address], GLM) as client:
            [outcome] = client.ask([request()])
    assert answer_of(outcome).text == "read"
    assert came == ["Basic " + base64.b64encode(b"me:s3cret!").decode()]
    assert base_url(address) == url
    with ChatClient(["http://me:s3cret@127.0.0.1:9"], GLM, retries=0, down_s=0.1) as client:
        [outcome] = client.ask([request()])
    assert "s3cret" not in str(outcome)


def held(handler: BaseHTTPRequestHandler) -> None:
    """Begins an answer, and says a letter now and then for as long as someone listens."""
    send(handler, b'{"choices": [{"message": {"content": "')
    while True:
        handler.wfile.write(b"a")
        time.sleep(0.05)


def full(handler: BaseHTTPRequestHandler) -> None:
    send(handler, b'{"error": "full"}', status=429)


def gone(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.close()


@pytest.mark.parametrize("chat", [held, full, gone])
def test_a_pages_time_limit_ends_all_its_attempts(chat: Says) -> None:
    """By its attempts alone it would take twenty minutes."""
    with speaking(chat) as url, ChatClient([url], GLM, timeout_s=300.0, page_s=1.0) as client:
        [outcome] = client.ask([request()])
    assert error_of(outcome).message


def test_an_answer_that_unfolds_to_gigabytes_is_not_unfolded() -> None:
    asks: list[str] = []

    def bomb(handler: BaseHTTPRequestHandler) -> None:
        asks.append(handler.headers["Accept-Encoding"])
        send(handler, gzip.compress(b" " * (64 << 20)), Content_Encoding="gzip")

    assert "cannot be read" in error_of(asked(bomb)).message
    assert set(asks) == {"identity"}


def test_an_answer_of_12_mb_is_watched_in_time_that_grows_with_it() -> None:
    """Each look copied all that was there: 12 MB took 90 s, and every other request waited."""
    watch, piece = repetition.LoopWatch(), 1024
    for number in range(12 * 1024):
        assert not watch.feed(hashlib.sha256(str(number).encode()).hexdigest() * (piece // 64 // 8))
        assert len(watch._tail) <= max(repetition.WINDOWS)
    assert len(watch.text()) == 12 * 1024 * 128
