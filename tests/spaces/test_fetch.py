"""Fetching from a real server on the loopback interface, which can be told to misbehave."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from llamea_tune.exceptions import FetchError
from llamea_tune.spaces import fetch as fetching
from llamea_tune.spaces.fetch import fetch, read_record

CONTENT = bytes(range(256)) * 8192  # 2 MiB


class Hub(ThreadingHTTPServer):
    """Serves one record; keeps what was asked for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.checksums: dict[str, str] = {}
        self.cuts: list[int] = []  # after how many bytes to hang up, for each of the next transfers
        self.ranges = True
        self.asked: list[tuple[str, str | None]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def transfers(self) -> list[str | None]:
        return [asked for path, asked in self.asked if path.startswith("/files/")]

    def record(self) -> bytes:
        files = [
            {
                "key": name,
                "size": len(data),
                "checksum": self.checksums.get(name, f"md5:{hashlib.md5(data).hexdigest()}"),
                "links": {"self": f"{self.address}/files/{number}"},
            }
            for number, (name, data) in enumerate(self.files.items())
        ]
        metadata = {"title": "A hub", "license": {"id": "mit"}}
        return json.dumps({"doi": "10.0/1", "metadata": metadata, "files": files}).encode()


class _Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        self.server.asked.append((self.path, asked))
        if self.path == "/record":
            self._send(200, self.server.record())
        elif self.path.startswith("/files/"):
            data = list(self.server.files.values())[int(self.path.rpartition("/")[2])]
            start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.server.ranges else 0
            extra = {"Content-Range": f"bytes {start}-{len(data) - 1}/{len(data)}"} if start else {}
            cut = self.server.cuts.pop(0) if self.server.cuts else None
            self._send(206 if start else 200, data[start:], cut, extra)
        else:
            self.send_error(404)

    def _send(self, code: int, body: bytes, cut: int | None = None, headers: dict[str, str] | None = None) -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body[:cut])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setattr(fetching, "_PAUSE_S", 0.0)
    with Hub() as server:
        server.files["data.bin"] = CONTENT
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def get(hub: Hub, folder: Path) -> list[Path]:
    return fetch(read_record(f"{hub.address}/record"), folder)


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def test_the_record_says_what_there_is(hub: Hub):
    record = read_record(f"{hub.address}/record")
    assert (record.title, record.license, record.doi) == ("A hub", "mit", "10.0/1")
    assert [file.name for file in record.files] == ["data.bin"]


def test_files_arrive_whole_and_are_not_fetched_again(hub: Hub, tmp_path: Path):
    assert get(hub, tmp_path) == [tmp_path / "data.bin"]
    assert (tmp_path / "data.bin").read_bytes() == CONTENT
    assert get(hub, tmp_path) == [tmp_path / "data.bin"]
    assert hub.transfers == [None]


def test_a_transfer_that_breaks_off_is_resumed_where_it_ended(hub: Hub, tmp_path: Path):
    hub.cuts = [100_000, 200_000]
    get(hub, tmp_path)
    assert (tmp_path / "data.bin").read_bytes() == CONTENT
    assert hub.transfers == [None, "bytes=100000-", "bytes=300000-"]


def test_a_later_call_resumes_too(hub: Hub, tmp_path: Path):
    hub.cuts = [1000] * 4
    with pytest.raises(FetchError, match=r"broke off at 4,000 of 2,097,152 bytes.*goes on from there"):
        get(hub, tmp_path)
    assert not (tmp_path / "data.bin").exists()
    get(hub, tmp_path)
    assert hub.transfers[-1] == "bytes=4000-"
    assert (tmp_path / "data.bin").read_bytes() == CONTENT


def test_a_server_without_ranges_sends_all_of_it_again(hub: Hub, tmp_path: Path):
    hub.cuts, hub.ranges = [100_000], False
    get(hub, tmp_path)
    assert (tmp_path / "data.bin").read_bytes() == CONTENT


def test_a_wrong_checksum_leaves_nothing(hub: Hub, tmp_path: Path):
    hub.checksums["data.bin"] = f"md5:{'0' * 32}"
    with pytest.raises(FetchError, match="wrong checksum"):
        get(hub, tmp_path)
    assert list(tmp_path.iterdir()) == []
    del hub.checksums["data.bin"]
    get(hub, tmp_path)
    assert (tmp_path / "data.bin").read_bytes() == CONTENT


def test_what_is_not_there_is_said_to_be(hub: Hub, tmp_path: Path):
    with pytest.raises(FetchError, match="404"):
        read_record(f"{hub.address}/nothing")
    record = read_record(f"{hub.address}/record")
    gone = type(record.files[0])("data.bin", 1, "md5:0", f"{hub.address}/gone")
    with pytest.raises(FetchError, match="HTTP 404"):
        fetch(type(record)("t", "l", "", (gone,)), tmp_path)


@pytest.mark.parametrize("name", ["../data.bin", "/data.bin", "a/b", "..", ".hidden"])
def test_names_that_lead_elsewhere_are_refused(hub: Hub, name: str):
    hub.files = {name: b"x"}
    with pytest.raises(FetchError, match="no record with files"):
        read_record(f"{hub.address}/record")


def test_only_the_web_is_read(tmp_path: Path):
    (tmp_path / "record").write_text("{}")
    with pytest.raises(FetchError, match="no web address"):
        read_record(f"file://{tmp_path}/record")


def test_archives_are_unpacked_and_replace_older_ones(hub: Hub, tmp_path: Path):
    hub.files = {"caches.zip": zipped({"gemm/A100.json": b"1", "LICENSE": b"MIT"})}
    assert get(hub, tmp_path) == [tmp_path / "caches"]
    assert (tmp_path / "caches" / "gemm" / "A100.json").read_bytes() == b"1"
    hub.files = {"caches.zip": zipped({"gemm/A4000.json": b"2"})}
    get(hub, tmp_path)
    assert [path.name for path in (tmp_path / "caches").rglob("*.json")] == ["A4000.json"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [".fetched.json", "caches"]


@pytest.mark.parametrize("member", ["../evil", "/tmp/evil", "a/../../evil", "..\\evil", "C:evil"])
def test_archives_cannot_reach_outside(hub: Hub, tmp_path: Path, member: str):
    hub.files = {"caches.zip": zipped({"fine": b"1", member: b"2"})}
    target = tmp_path / "inner"
    with pytest.raises(FetchError, match="outside its folder"):
        get(hub, target)
    assert [path.name for path in tmp_path.rglob("*") if "evil" in path.name or path.name == "fine"] == []


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_archives_hold_plain_files_only(hub: Hub, tmp_path: Path, kind: bytes):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        info = tarfile.TarInfo("link")
        info.type, info.linkname = kind, "/etc/passwd"
        archive.addfile(info)
    hub.files = {"caches.tar.gz": buffer.getvalue()}
    with pytest.raises(FetchError, match="link or device"):
        get(hub, tmp_path)
    assert not (tmp_path / "caches").exists()


def test_a_damaged_archive_is_one_sentence(hub: Hub, tmp_path: Path):
    hub.files = {"caches.zip": b"PK no zip"}
    with pytest.raises(FetchError, match=r"caches\.zip cannot be unpacked"):
        get(hub, tmp_path)
