# SPDX-License-Identifier: Apache-2.0
"""Files of sections that look alike: functions that were copied, tests, services of a configuration, rules of a
style sheet.

    sheet = draw(rng)                   # a Sheet of any language; draw(rng, "Python") of one
    sheet.file, sheet.heads, sheet.bodies      # per section: the number of its head's line, the (start, end) of its body
    sheet.edit(rng, k)                  # an Edit of one line in section k's body, which all sections have

The bodies are the same, so that only what an edit says besides, a number, a heading, its neighbours, its order,
tells which one is meant.
"""

import re
from dataclasses import dataclass

import changes
from changes import Place
from files import File, bare

NAMES = [
    "create",
    "remove",
    "update",
    "fetch",
    "archive",
    "restore",
    "publish",
    "rename",
    "validate",
    "export",
    "merge",
    "resolve",
]

# language: (name of the file, what comes first, head, body, tail); NAME is the section's
TEMPLATES = {
    "Python": ("test_api.py", "import client\n\n\n", "def test_NAME(server):", [
        "    answer = server.call(limit=10)", "    assert answer.status == 200",
        "    assert answer.body is not None", "    server.close()"], "\n\n"),
    "Python, methods": ("store.py", "class Store:\n    def __init__(self):\n        self.items = {}\n\n",
        "    def NAME(self, key):", [
        "        self.check(key)", "        entry = self.items.get(key, 10)", "        self.log.append(entry)",
        "        return entry"], "\n"),
    "C": ("ops.c", '#include "ops.h"\n\n', "int ops_NAME(struct ops *ops)", [
        "{", "\tint ret = ops_lock(ops, 10);", "", "\tif (ret < 0)", "\t\treturn ret;", "\tops->count++;",
        "\treturn ops_unlock(ops);", "}"], "\n"),
    "JavaScript": ("api.test.js", "const { server } = require('./server');\n\n",
        "test('NAME works', async () => {", [
        "  const answer = await server.call({ limit: 10 });", "  expect(answer.status).toBe(200);",
        "  expect(answer.body).toBeDefined();", "});"], "\n"),
    "TypeScript": ("store.ts", "export class Store {\n", "  async NAME(key: string): Promise<Entry> {", [
        "    this.check(key);", "    const entry = await this.items.get(key, 10);", "    this.log.push(entry);",
        "    return entry;", "  }"], "\n"),
    "Go": ("ops.go", "package ops\n\n", "func (o *Ops) NAME(key string) error {", [
        "\tentry, err := o.find(key, 10)", "\tif err != nil {", "\t\treturn err", "\t}", "\to.count++",
        "\treturn entry.Close()", "}"], "\n"),
    "Java": ("Store.java", "public class Store {\n", "    public Entry NAME(String key) {", [
        "        check(key);", "        Entry entry = items.get(key, 10);", "        log.add(entry);",
        "        return entry;", "    }"], "\n"),
    "Rust": ("ops.rs", "use crate::ops::Ops;\n\n", "pub fn NAME(ops: &mut Ops) -> Result<(), Error> {", [
        "    let entry = ops.find(10)?;", "    ops.count += 1;", "    entry.close()", "}"], "\n"),
    "Ruby": ("store.rb", "class Store\n", "  def NAME(key)", [
        "    check(key)", "    entry = @items.fetch(key, 10)", "    @log << entry", "    entry", "  end"], "\n"),
    "Lua": ("ops.lua", "local ops = {}\n\n", "function ops.NAME(key)", [
        "  local entry = ops.find(key, 10)", "  ops.count = ops.count + 1", "  return entry", "end"], "\n"),
    "Shell": ("run.sh", "#!/bin/sh\n\n", "NAME() {", [
        "\tlimit=10", '\tcheck "$1" || return 1', '\trun_step "$1" "$limit"', '\treport "$1"', "}"], "\n"),
    "YAML": ("services.yml", "services:\n", "  NAME:", [
        "    image: registry/base:10", "    restart: always", "    environment:", "      LEVEL: info",
        "      TIMEOUT: 10"], ""),
    "TOML": ("services.toml", 'title = "services"\n\n', "[service.NAME]", [
        'image = "registry/base"', "restart = true", "timeout = 10", 'level = "info"'], "\n"),
    "INI": ("services.ini", "; services\n", "[NAME]", [
        "image = registry/base", "restart = yes", "timeout = 10", "level = info"], "\n"),
    "CSS": ("site.css", "body { margin: 0 }\n\n", ".NAME-button {", [
        "  color: #333333;", "  padding: 10px 4px;", "  border: 1px solid black;", "}"], "\n"),
    "Markdown": ("GUIDE.md", "# Guide\n\n", "## How to NAME", [
        "", "Open the settings and choose a name.", "Wait for 10 seconds, then press the button.",
        "The result is shown below the list.", ""], ""),
    "JSON": ("services.json", '{\n  "version": 2,\n', '  "NAME": {', [
        '    "image": "registry/base",', '    "timeout": 10,', '    "restart": true', "  },"], ""),
    "Make": ("Makefile", "CC = cc\n\n", "NAME: build/stamp", [
        "\t@echo making", "\t$(CC) -O2 -c main.c", "\tstrip --level=10 main.o", "\ttouch $@"], "\n"),
    "SQL": ("schema.sql", "begin;\n\n", "create table NAME_log (", [
        "  id bigint primary key,", "  level int default 10,", "  message text not null,",
        "  created timestamp", ");"], "\n"),
    "HTML": ("page.html", "<html>\n<body>\n", '  <section id="NAME">', [
        "    <h2>Choose a name</h2>", "    <p>Wait for 10 seconds.</p>",
        '    <button type="submit">Send</button>', "  </section>"], ""),
}


@dataclass
class Sheet:
    file: File
    language: str
    names: list
    heads: list
    bodies: list

    def head(self, k):
        return bare(self.file.lines[self.heads[k]])

    def edit(self, rng, k, salt=None):
        """Another number in the body of section k."""
        start, end = self.bodies[k]
        at = next(i for i in range(start, end) if re.search(rb"\b10", self.file.lines[i]))
        new = re.sub(rb"\b10", b"%d" % (salt or rng.randrange(11, 9999)), self.file.lines[at])
        return changes.Edit(self.file, [Place(at, at + 1, [new])])


def draw(rng, language=None, names=None, least=4):
    language = language or rng.choice(list(TEMPLATES))
    leaf, first, head, body, tail = TEMPLATES[language]
    names = list(names or rng.sample(NAMES, rng.randint(least, 8)))
    lines = first.encode().splitlines(True)
    heads, bodies = [], []
    for name in names:
        heads.append(len(lines))
        lines.append(head.replace("NAME", name).encode() + b"\n")
        bodies.append((len(lines), len(lines) + len(body)))
        lines += [line.encode() + b"\n" for line in body] + tail.encode().splitlines(True)
    if tail and language not in ("YAML",):
        del lines[len(lines) - len(tail.splitlines()) :]
    return Sheet(File(leaf, b"".join(lines)), language, names, heads, bodies)
