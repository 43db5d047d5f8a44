# SPDX-License-Identifier: Apache-2.0
"""glob: what was changed lately comes first."""

import os
import time

from search_peers import hasp_call

HOUR = 3600


def touch(folder, name, age):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    when = time.time() - age
    os.utime(path, (when, when))


def test_the_last_day_comes_first_and_the_rest_by_name(tmp_path):
    ages = {"z": 2 * HOUR, "m/n": 1 * HOUR, "b": 23 * HOUR, "a": 30 * HOUR, "y": 1000 * HOUR, "c/d": 25 * HOUR,
            "future": -HOUR}
    for name, age in ages.items():
        touch(tmp_path, name, age)
    recent = hasp_call(tmp_path, "glob", pattern="**")["files"]
    assert recent == ["future", "m/n", "z", "b", "a", "c/d", "y"]
    assert hasp_call(tmp_path, "glob", pattern="**", order="name")["files"] == sorted(ages)
    assert hasp_call(tmp_path, "glob", pattern="**", max_results=2)["files"] == ["future", "m/n"]


def test_files_of_one_moment_are_in_the_order_of_their_names(tmp_path):
    for name in ("c", "a", "b"):
        touch(tmp_path, name, 0)
        os.utime(tmp_path / name, ns=(10 ** 18 * 2, 10 ** 18 * 2))
    assert hasp_call(tmp_path, "glob", pattern="*")["files"] == ["a", "b", "c"]


def test_times_are_told_in_utc_with_details(tmp_path):
    touch(tmp_path, "a", 0)
    os.utime(tmp_path / "a", (1_600_000_000, 1_600_000_000))
    touch(tmp_path, "b", 0)
    os.utime(tmp_path / "b", ns=(-1, -1))
    files = hasp_call(tmp_path, "glob", pattern="*", details=True, order="name")["files"]
    assert [file["modified"] for file in files] == ["2020-09-13T12:26:40Z", "1969-12-31T23:59:59Z"]


def test_names_of_odd_bytes_are_told_visibly(tmp_path):
    folder = os.fsencode(str(tmp_path))
    for name in (b"new\nline", b"esc\x1b[31m", b"\xff\xfe", "\u00fc".encode()):
        with open(os.path.join(folder, name), "wb"):
            pass
    assert hasp_call(tmp_path, "glob", pattern="*", order="name")["files"] == [
        "esc\x1b[31m", "new\nline", "\u00fc", "\\xff\\xfe"]
