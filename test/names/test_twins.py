# SPDX-License-Identifier: Apache-2.0
"""Hard links out of the workspace are named by --status and --explain."""

import json
import os

import pytest

from names_fixture import Place

pytestmark = pytest.mark.in_turn("place", "level")


@pytest.fixture(params=["root", "user"], name="place")
def a_place(request):
    place = Place(request.param)
    place.plant(place.top / "outside", "x")
    place.plant(place.work / "sub/both", "x")
    os.link(place.top / "outside", place.work / "sub/linked")
    os.link(place.work / "sub/both", place.work / "other")
    place.give_away()
    yield place
    place.close()


@pytest.mark.parametrize("what", ["--status", "--explain"])
def test_a_file_with_a_name_outside_is_named(place, what):
    linked = str(place.work / "sub/linked")
    text = place.hasp("sandbox", what).stdout
    assert linked in text and "1 other name outside" in text
    assert str(place.work / "other") not in text and str(place.work / "sub/both") not in text
    found = json.loads(place.hasp("sandbox", what, "--json").stdout)["hard_links"]
    assert (found["count"], found["cut"]) == (1, False)
    assert [entry["path"] for entry in found["files"]] == [linked]


@pytest.mark.parametrize("what", ["--status", "--explain"])
def test_where_there_is_none_nothing_is_said(place, what):
    (place.work / "sub/linked").unlink()
    assert "hard_links" not in place.hasp("sandbox", what).stdout
    assert "hard_links" not in json.loads(place.hasp("sandbox", what, "--json").stdout)


def test_many_are_counted_and_some_named(place):
    (place.top / "many").mkdir()
    for i in range(100):
        path = place.plant(place.top / ("many/%d" % i), "x")
        os.link(path, place.work / ("many%d" % i))
    found = json.loads(place.hasp("sandbox", "--status", "--json").stdout)["hard_links"]
    assert found["count"] == 101 and len(found["files"]) == 64


def test_roots_that_hold_both_names_are_one_workspace(place):
    text = place.hasp("sandbox", "--status", "--root", str(place.top)).stdout
    assert "outside" not in text.split("hard_links")[-1] or "hard_links" not in text
