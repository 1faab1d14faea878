"""Bad days of a page: a disk that is full, media that cannot be written, a torn store, two servers, a crowd of idle connections."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from humancheck_helpers import said, words_of
from humancheck_page import PageClient, open_page
from processes import running_process

from treegauge.errors import InputError
from treegauge.humancheck.questions import Check
from treegauge.humancheck.session import Session, people_named
from treegauge.humancheck.store import Store
from treegauge.humancheck.web.server import serve_in_thread


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of one megabyte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if shutil.which("mount") is None or os.name != "posix":
        pytest.skip("no mount command on this machine")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("this user cannot mount a file system")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def send(client: PageClient, key: str, note: str = "") -> tuple[int, dict[str, object]]:
    return client.post("judge", {"id": secrets.token_hex(16), "question": key, "verdict": "accepted", "note": note})


def test_a_disk_that_runs_full_loses_nothing_acknowledged(check: Check, small_disk: Path) -> None:
    keys = [check.questions[number].key for number in check.order]
    acknowledged: list[str] = []
    with Store(small_disk / "j.sqlite") as store:
        for clients in open_page(check, store, ["anna"]):
            anna = clients["anna"]
            (small_disk / "other").write_bytes(b"x" * 500_000)
            for number in range(2000):
                status, answer = send(anna, keys[number % len(keys)], note="x" * 2000)
                if status != 200:
                    break
                acknowledged.append(list(anna.session.log.by_id)[-1])
            assert status == 503
            assert "the disk is full" in str(answer["message"])
            assert anna.get(), "pages are read all the same"
            (small_disk / "other").unlink()
            assert send(anna, keys[0])[0] == 200, "and once there is room, answers are stored again"
    with Store(small_disk / "j.sqlite") as store:
        stored = {judgement.id for judgement in store.since(0)}
    assert len(acknowledged) > 5
    assert set(acknowledged) <= stored


def test_a_store_on_a_disk_mounted_read_only(check: Check, small_disk: Path) -> None:
    with Store(small_disk / "j.sqlite") as store:
        store.append([said(check, check.order[0], "accepted")], words_of(check))
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with Store(small_disk / "j.sqlite", create=False) as store:
        assert [judgement.verdict for judgement in store.since(0)] == ["accepted"]
    command = [sys.executable, "-m", "treegauge", "check", "--store", str(small_disk / "j.sqlite")]
    shown = subprocess.run([*command, "--audit"], capture_output=True, text=True, check=False)
    assert (shown.returncode, "accepted" in shown.stdout) == (0, True), shown.stderr
    refused = subprocess.run([*command, "--revoke", "anna"], capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert "read-only" in refused.stderr


def test_two_servers_on_one_store(check: Check, tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    key = check.questions[check.order[0]].key
    people = people_named(["anna"])
    with Store(path) as one, Store(path) as other:
        with serve_in_thread(Session(check, one, people)) as here, serve_in_thread(Session(check, other, people)) as there:
            first, second = (PageClient(next(iter(links.values()))) for links in (here, there))
            first.judge("accepted", key)
            assert "You accepted this bracket" in (second.get() and second.get(f"question/{key}"))
            second.judge("rejected", key, note="on second thoughts")
            assert "You rejected this bracket" in (first.get() and first.get(f"question/{key}"))
            assert first.shown() == second.shown() != key
            for client in (first, second):
                client.close()
        assert [judgement.verdict for judgement in one.since(0)] == ["accepted", "rejected"]


@pytest.mark.parametrize("damage", ["cut", "zeros", "noise", "empty tables", "no header"])
def test_a_damaged_store_is_refused_in_words(check: Check, tmp_path: Path, damage: str) -> None:
    path = tmp_path / "j.sqlite"
    with Store(path) as store:
        store.append([said(check, number, "accepted") for number in check.order[:40]], words_of(check))
    for suffix in ("-wal", "-shm"):
        (tmp_path / f"j.sqlite{suffix}").unlink(missing_ok=True)
    whole = path.read_bytes()
    page = 4096
    damaged = {
        "cut": whole[: len(whole) // 2],
        "zeros": whole[:page] + bytes(len(whole) - page),
        "noise": whole[:page] + b"\xa5" * (len(whole) - page),
        "empty tables": whole[: 2 * page] + bytes(len(whole) - 2 * page),
        "no header": b"\0" * 100 + whole[100:],
    }[damage]
    path.write_bytes(damaged)
    with pytest.raises(InputError) as refused, Store(path, create=False) as store:
        store.since(0)
    assert str(path) in str(refused.value)
    assert path.read_bytes() == damaged, "nothing is made worse"
    command = [sys.executable, "-m", "treegauge", "check", "--store", str(path), "--audit"]
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    assert shown.returncode not in (0, 1)
    assert "Traceback" not in shown.stderr


SERVER = """
import resource, sys, threading
resource.setrlimit(resource.RLIMIT_NOFILE, (120, 120))
from treegauge.humancheck.web import server
server.REQUEST_TIMEOUT = 1.0
from treegauge.cli import main
main()
"""


@pytest.mark.slow
def test_three_hundred_half_open_connections_do_not_shut_people_out(tmp_path: Path) -> None:
    """Under a low limit of descriptors, half-sent requests are closed in time and make room."""
    gold, test = "(S (NP (D a) (N b)) (VP (V c) (NP (N d))))", "(S (D a) (X (N b) (V c)) (NP (N d)))"
    (tmp_path / "gold.mrg").write_text(f"{gold}\n", "utf-8")
    (tmp_path / "test.mrg").write_text(f"{test}\n", "utf-8")
    command = [sys.executable, "-c", SERVER, "check", "gold.mrg", "test.mrg", "--port", "0", "--no-open"]
    with running_process(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as page:
        assert page.stdout is not None
        link = page.stdout.readline().strip()
        address = urlsplit(link)
        half = [socket.create_connection((address.hostname, address.port), timeout=30) for _ in range(300)]
        for connection in half:
            connection.sendall(f"POST {address.path}judge HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Le".encode())
        client = PageClient(link)
        assert client.get()
        client.judge("accepted")
        client.close()
        for connection in half:
            connection.close()
