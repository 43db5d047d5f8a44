# SPDX-License-Identifier: Apache-2.0
"""A tool is added by a row, a handler and a line in the list of tools: policy, hooks, telemetry, questions and the
terminal know it then. The program here is this one with such a tool, linked from three files of its own."""
import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from fake_gemini import call, text

TOP = Path(__file__).resolve().parents[3]
ROW = """	[TOOL_WATER_PLANTS] = {
		"water_plants", .claude = "Water", ALIASES("WaterTool", "irrigate"),
		.one = "bed", .one_is = "the bed", .verb = "Water" },
};
"""
HANDLER = r"""
#include "base/text.h"
#include "data/json.h"
#include "tool/builtin/builtin.h"

static json_t *water_plants(struct session *session, const json_t *arguments)
{
	(void)session;
	return json_pack("{s:b, s:o}", "success", 1, "message",
	                 json_text(json_span(json_object_get(arguments, "bed"))));
}

extern const struct tool tool_water_plants;
const struct tool tool_water_plants = {
	.info = &tool_infos[TOOL_WATER_PLANTS],
	.name = "water_plants",
	.title = "Water plants",
	.description = "Waters a bed.",
	.arguments_schema = "{\"type\": \"object\", \"required\": [\"bed\"], \"additionalProperties\": false, "
	                    "\"properties\": {\"bed\": {\"type\": \"string\"}}}",
	.result_schema = "{\"type\": \"object\"}",
	.run = water_plants,
};
"""


def put(folder, name, change=("", "")):
    """A copy beneath `folder` of a file of src/, in which the first text has become the second."""
    before, after = change
    content = (TOP / "src" / name).read_text()
    assert content.count(before) == 1 or not before
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content.replace(before, after) if before else content)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    top = tmp_path_factory.mktemp("new_tool")
    source = top / "src"
    put(source, "data/tools.h", ("\tTOOL_COUNT,\n", "\tTOOL_WATER_PLANTS,\n\tTOOL_COUNT,\n"))
    put(source, "data/tools.c", ('"cli_help", ALIASES(), .kind = TOOL_KIND_AGENT },\n};\n',
                                 '"cli_help", ALIASES(), .kind = TOOL_KIND_AGENT },\n' + ROW))
    put(source, "tool/set.c", ("\t&tool_kill_background_process,\n",
                               "\t&tool_kill_background_process, &tool_water_plants,\n"))
    put(source, "tool/builtin/builtin.h", ("extern const struct tool tool_read_file;\n",
                                           "extern const struct tool tool_read_file, tool_water_plants;\n"))
    (source / "tool/builtin/water_plants.c").write_text(HANDLER)
    return build(top, source, Path(os.environ.get("HASP") or TOP / "build" / "hasp"))


def build(top, source, hasp):
    folder = hasp.resolve().parent

    def command(target):
        said = subprocess.run(["ninja", "-C", str(folder), "-t", "commands", target], stdout=subprocess.PIPE, check=True)
        return said.stdout.decode().splitlines()[-1]

    def compiled(made_by, name):
        made = top / (Path(name).stem + ".o")
        words = shlex.split(command(made_by))
        for option, value in (("-o", made), ("-MF", str(made) + ".d"), ("-c", source / name)):
            words[words.index(option) + 1] = str(value)
        words.insert(words.index("-o"), "-I%s" % (TOP / "src"))
        words[2:2] = ["-I%s" % source]
        subprocess.run(words, cwd=folder, check=True)
        return str(made)

    library = "src/tool/libtool.a.p/set.c.o"
    objects = [compiled("src/data/libdata.a.p/tools.c.o", "data/tools.c"), compiled(library, "tool/set.c"),
               compiled(library, "tool/builtin/water_plants.c")]
    made = top / "hasp"
    link = re.sub(r" -o hasp ", lambda _: " -o %s %s " % (made, " ".join(objects)), command("hasp"), count=1)
    subprocess.run(["sh", "-c", link], cwd=folder, check=True)
    return made


@pytest.fixture
def garden(world, program, monkeypatch):
    monkeypatch.setitem(world.argv.__globals__, "HASP", str(program))
    return world


WATER = [[call("irrigate", {"bed": "roses"})], [text("Wet.")]]


def rules(world, name, decision):
    folder = world.home / ".gemini" / "policies"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "my.toml").write_text('[[rule]]\ntoolName = "%s"\ndecision = "%s"\npriority = 1\n' % (name, decision))


def watered(done):
    return '"message": "roses"' in done.said() or '"message":"roses"' in done.said()


def test_a_call_by_another_name_is_one_of_it(garden):
    assert watered(garden.run(WATER, "-p", "x", "-y"))
    assert "water_plants" in garden.command("tool", "--list").text


@pytest.mark.parametrize("name", ["water_plants", "WaterTool", "irrigate", "waterPlants", "default_api.water_plants"])
def test_rules_settings_and_agents_know_its_names(garden, name):
    rules(garden, name, "deny")
    assert not watered(garden.run(WATER, "-p", "x", "-y"))
    assert "my.toml" in garden.command("policy", "check", "irrigate", "{}").text
    rules(garden, "glob", "allow")
    garden.settings(tools={"exclude": [name]})
    assert "deny" in garden.command("policy", "check", "water_plants", "{}").text


def test_a_rule_for_a_name_that_is_nearly_it_is_an_error(garden):
    rules(garden, "watr_plants", "deny")
    done = garden.command("-p", "x", env={"GEMINI_API_KEY": "k"})
    assert done.code == 52 and 'did you mean "water_plants"?' in done.err


@pytest.mark.parametrize("format,matcher", [("", "water_plants"), ("", "irrigate"), ("claude", "Water")])
def test_hooks_know_it(garden, format, matcher):
    seen = garden.home / "seen"
    garden.settings(hooks={"BeforeTool": [{"matcher": matcher, **({"format": format} if format else {}), "hooks": [
        {"type": "command", "command": "cat >%s; exit 2" % seen}]}]})
    assert not watered(garden.run(WATER, "-p", "x", "-y"))
    assert json.loads(seen.read_text())["tool_name"] == ("Water" if format else "water_plants")


def test_telemetry_counts_it_as_ours(garden):
    log = garden.top / "telemetry.log"
    garden.settings(telemetry={"enabled": True, "target": "local", "outfile": str(log)})
    garden.run(WATER, "-p", "x", "-y")
    assert re.search(r'"function_name": ?"water_plants"', log.read_text())
    assert re.search(r'"tool_type": ?"native"', log.read_text())


def test_the_terminal_asks_and_shows_it(garden):
    with garden.fake(WATER) as server:
        with garden.hasp(server) as hasp:
            hasp.type("water them").key("enter")
            hasp.wait("the bed roses")
            hasp.key("enter").wait("Water roses").wait("Wet.")
