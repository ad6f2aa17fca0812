"""Recording and fetching from the command line."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from llamea_tune.testing.kernels import write_kernel_folder


def test_a_recorded_sample_is_a_space(command, own_folders: Path):
    kernel = write_kernel_folder(own_folders / "doubled")
    options = ("--out", "out", "--sample", "12", "--noise-sample", "0", "--label", "cpu", "--quiet", "--json")
    recorded = command("spaces", "record", kernel, *options)
    assert recorded.code == 0, recorded.err
    (facts,) = recorded.json
    assert (facts["kernel"], facts["configs"], facts["measured"]) == ("doubled", 12, 12)
    (listed,) = command("spaces", "list", "out", "--json").json
    assert listed["configs"] == 12
    assert command("spaces", "record", kernel, *options).json[0]["measured"] == 0


def test_a_kernel_that_cannot_be_recorded_does_not_stop_the_others(command, own_folders: Path):
    kernel = write_kernel_folder(own_folders / "doubled")
    done = command("spaces", "record", "missing", kernel, "--out", "out", "--sample", "3", "--noise-sample", "0")
    assert done.code == 2
    assert "neither a kernel folder nor a T1 file" in done.err
    assert "doubled: 3 configs" in done.out


def test_a_time_limit_is_exit_code_3_and_can_be_resumed(command, own_folders: Path):
    kernel = write_kernel_folder(own_folders / "doubled")
    assert command("spaces", "record", kernel, "--out", "out", "--time-limit", "0").code == 3
    assert command("spaces", "record", kernel, "--out", "out", "--sample", "3", "--noise-sample", "0").code == 0


def test_a_part_that_makes_no_sense_is_refused(command, own_folders: Path):
    assert command("spaces", "record", "gemm", "--part", "two").is_refusal()


def test_fetching_shows_the_license(command, own_folders: Path):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"files": [], "metadata": {"title": "T", "license": {"id": "mit"}}}).encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        fetched = command("spaces", "fetch", "--url", f"http://127.0.0.1:{server.server_port}/record")
        thread.join()
    assert fetched.code == 0, fetched.err
    assert "license: mit" in fetched.err
    assert "license: mit" in fetched.out
    assert command("spaces", "fetch", "--url", "http://127.0.0.1:9/record").is_refusal()
