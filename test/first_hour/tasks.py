# SPDX-License-Identifier: Apache-2.0
"""The first hour of someone who comes from another agent: a row a task.

    from_page("docs/cli/tutorials/session-management.md",
        Task("the last session", [see("Paint the shed"), key("enter")], start=("-r",),
             before=[earlier("Paint the shed", "Green it is.")], differs="lists the sessions; Enter opens the last one"))

`wants` is the task.  What they type stands on the page of their agent's documentation that from_page names, with names
of this project's files in place of that page's; the steps are what they do here.  What is needed beyond that follows
from the steps: say and key need nothing, menu is an item of the list that is shown while one types, hint is something
that a message on the screen has named.  Where hasp does something else, `differs` says what; a row is never bent until
it passes.  There is no step for looking into docs/: where a task needs that, the terminal is at fault, and the row says
so (`looked`).

docs/first-hour.md is made of the rows: run this file.
"""
import json
import sys
import time
from pathlib import Path
from typing import NamedTuple

from player import words_of

PEERS = {"claude_code": "Claude Code", "codex": "Codex", "gemini_cli": "Gemini CLI", "opencode": "OpenCode"}
TOP = Path(__file__).resolve().parents[2]
PAGE = TOP / "docs" / "first-hour.md"
SIZES = [(80, 24), (200, 50)]
PATIENCE = 120


class Step(NamedTuple):
    do: object          # of the terminal and the mover
    typed: str = ""     # in the document
    needed: str = ""    # likewise


class Task(NamedTuple):
    wants: str
    steps: list
    script: list = []   # what the model does (player.py), or says whatever it was asked
    start: tuple = ()   # words behind "hasp"
    shell: str = ""     # or a line of a shell, in which hasp is hasp
    before: list = []   # of the mover: what was there
    after: list = []    # of the mover and the text on the terminal: what is true then
    lists: dict = {}    # what the provider lists: {path: answer}
    first: bool = False  # nothing was chosen yet: the very first start
    trusts: bool = True  # the folder; false: nobody has decided about it
    ends: bool = False   # by itself, after it has printed something
    differs: str = ""    # what hasp does instead
    source: str = ""     # the page of their documentation


def from_page(source, *tasks):
    return [task._replace(source=source) for task in tasks]


def name_of(key):
    return "+".join(word.capitalize() for word in key.split("+"))


# ---- what is done ----

def wait_wrapped(hasp, shown):
    """Wherever a row ends in it."""
    end = time.monotonic() + PATIENCE
    while "".join(shown.split()) not in "".join(hasp.dump().text.split()):
        assert time.monotonic() < end, hasp.dump().text
        time.sleep(0.05)


def say(text):
    """Type it, and Enter."""
    def do(hasp, _):
        end = text[1:][-20:] if text[0] in "!" else text[-20:]
        hasp.type(text)
        if len(text) < 60:
            hasp.wait(end)
        else:
            wait_wrapped(hasp, end)
        hasp.key("enter")
    return Step(do, "`%s`" % text)


def put(text):
    """Type it, and nothing else."""
    return Step(lambda hasp, _: hasp.type(text), "`%s`" % text)


def key(*names):
    def do(hasp, _):
        hasp.key(*names)
    return Step(do, ", ".join(map(name_of, names)))


def see(text):
    return Step(lambda hasp, _: hasp.wait(text))


def gone(text):
    return Step(lambda hasp, _: hasp.gone(text))


def rest():
    """Until nothing moves: what is typed next is no answer to what is not there yet."""
    return Step(lambda hasp, _: hasp.quiet())


def menu(text, shown, *keys):
    """An item of the list that is shown while one types."""
    keys = keys or ("tab",)

    def do(hasp, _):
        hasp.type(text).wait(shown).key(*keys)
    return Step(do, ("`%s`, " % text if text else "") + ", ".join(map(name_of, keys)), "the menu")


def hint(shown, text="", keys=()):
    """What a message has told: it names what is typed then, a key or the first character."""
    named = text[0] if text else name_of(keys[0])

    def do(hasp, _):
        hasp.wait(shown)
        said = " ".join(hasp.dump().text.split())
        assert named.lower() in said.lower(), "%s is nowhere in:\n%s" % (named, said)
        if text:
            hasp.quiet().type(text).key("enter")
        hasp.key(*keys)
    return Step(do, "`%s`" % text if text else ", ".join(map(name_of, keys)), "the message \"%s\"" % shown)


def told_by(shown):
    """A message that says how it is here, where there is nothing to type."""
    return Step(lambda hasp, _: wait_wrapped(hasp, shown), "", "the message \"%s\"" % shown)


def looked(page, step):
    """Nothing on the screen says that this is done so: it stands in a page of docs/."""
    return step._replace(needed="docs/%s" % page)


def asked(held):
    """The request whose reply is held has come."""
    return Step(lambda hasp, mover: mover.await_request(held))


def letting(held):
    """The reply that was held may come."""
    return Step(lambda hasp, mover: mover.release(held))


# ---- what was there before: of the mover ----

def earlier(words, reply):
    """A session."""
    return lambda mover: mover.prompt(words, [[{"text": reply}]])


def file(name, content):
    return lambda mover: mover.write(name, content)


def in_home(name, content):
    def put_there(mover):
        (mover.home / name).parent.mkdir(parents=True, exist_ok=True)
        (mover.home / name).write_text(content)
    return put_there


def trusted(mover):
    """The folder, as a mover's answer leaves it."""
    in_home(".gemini/trustedFolders.json", json.dumps({str(mover.root): "TRUST_FOLDER"}))(mover)


# ---- what is true then: of the mover and the text on the terminal ----

def told(words, i=-1):
    """The model has read it."""
    def check(mover, _):
        assert words in mover.said(i), mover.said(i)
    return check


def untold(words, i=-1):
    def check(mover, _):
        assert words not in mover.said(i), mover.said(i)
    return check


def soon(is_so):
    """Files may change after the window has: until it is so, within the time of a machine that does other things."""
    end = time.monotonic() + 60
    while not is_so() and time.monotonic() < end:
        time.sleep(0.05)
    return is_so()


def holds(name, words):
    """A file of the project has it."""
    def check(mover, _):
        assert soon(lambda: words in mover.read(name)), mover.read(name)
    return check


def lacks(name, words=None):
    """A file has it not; without words: the file is not there."""
    def check(mover, _):
        assert soon(lambda: not (mover.root / name).exists() if words is None else words not in mover.read(name))
    return check


def git(command, words):
    """What git prints in the project."""
    def check(mover, _):
        said = mover.git(*command.split())
        assert words in said, said
    return check


def setting(name, value):
    """What the user's settings have."""
    def check(mover, _):
        found = mover.saved()
        for part in name.split("."):
            found = found.get(part, {})
        assert found == value, mover.saved()
    return check


def ended(mover, _):
    mover.ended()


# ---- the document ----

def prompts_of(task):
    """What is typed for the model."""
    typed = [step.typed.split("`")[1].strip() for step in task.steps if step.typed.startswith("`")]
    return [words for words in [*typed, *task.start] if len(words) > 1 and words[0] not in "/!-"]


def typed_of(task):
    words = [step.typed for step in task.steps if step.typed]
    line = task.shell or " ".join(["hasp", *('"%s"' % word if " " in word else word for word in task.start)])
    if task.shell or task.start or task.first:
        words.insert(0, "`%s`" % line)
    return "; ".join(words).replace("|", "\\|")


def needed_of(task):
    return "; ".join(dict.fromkeys(step.needed for step in task.steps if step.needed)) or "nothing"


def table(tasks):
    return "\n".join(["| task | types | the model | needs | differs | page |", "|---|---|---|---|---|---|"] + [
        "| %s | %s | %s | %s | %s | %s |" % (
            task.wants, typed_of(task), words_of(task.script).replace("|", "\\|"), needed_of(task).replace("|", "\\|"),
            task.differs, task.source) for task in tasks])


def tables():
    """{peer: its tasks}, in the order of PEERS."""
    return {peer: __import__("test_" + peer).TASKS for peer in PEERS}


def document(text):
    """The page with its tables made again."""
    every = tables()
    assert all(len(rows) >= 30 and all(task.source for task in rows) for rows in every.values())
    tasks = [task for rows in every.values() for task in rows]
    needs = [needed_of(task) for task in tasks]
    models = [words_of(task.script) for task in tasks]
    figures = ("Of %d tasks, %d need nothing, %d the menu, %d what a message says, and %d a look into docs/; %d differ. The model "
               "is asked in %d: in %d it acts upon what it reads, in %d it answers with a text only.") % (
        len(tasks), needs.count("nothing"), sum("the menu" in one for one in needs),
        sum("the message" in one for one in needs), sum("docs/" in one for one in needs),
        sum(bool(task.differs) for task in tasks), sum(map(bool, models)), sum(one not in ("", "text only") for one in models),
        models.count("text only"))
    head = text.split("<!-- tasks: begin -->")[0]
    parts = ["## %s\n\n%s\n" % (PEERS[peer], table(rows)) for peer, rows in every.items()]
    return head + "<!-- tasks: begin -->\n" + figures + "\n\n" + "\n".join(parts)


if __name__ == "__main__":
    sys.path.append(str(TOP / "test"))
    PAGE.write_text(document(PAGE.read_text()))
