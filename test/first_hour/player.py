# SPDX-License-Identifier: Apache-2.0
"""A model that is played: it looks at a request and does what a model would do next.

    script=[reads("prices.py"), changes("prices.py", "result - price", "result + price"), runs("sh test.sh"),
            tells(r"all tests passed", "It adds up now: %s.")]

A step gets what a request says (Seen) and returns the parts of a reply, in the words of the tools that the request
declares.  It asserts that the request has what it goes by: the prompt as it was typed, the file as it was read, the
output of the command, the words of the refusal.  What fails there is a violation, as is a request that breaks a rule of
the provider.  A step that is a list is what the model says whatever it was asked: text only.
"""
import difflib
import json
import re
from typing import NamedTuple


class Seen(NamedTuple):
    tools: dict     # {name: schema} that are declared
    results: list   # of this conversation's calls, oldest first
    said: str       # all that the request says, but for its tools

    def content(self, words):
        """Of the file that was read last and has these words."""
        for result in reversed(self.results):
            for one in result if isinstance(result, list) else [result]:
                if isinstance(one, dict) and words in str(one.get("content", "")):
                    return one["content"], one.get("sha256")
        raise AssertionError("nothing that was read has %r: %r" % (words, self.results))

    def last(self):
        assert self.results, "nothing was called yet"
        return self.results[-1]


class Act(NamedTuple):
    do: object      # of Seen: the parts of a reply
    words: str      # in the document


def seen_in(provider, request):
    said = {name: value for name, value in request.body.items() if name != "tools"}
    return Seen(provider.tool_names(request), provider.tool_results(request), json.dumps(said, ensure_ascii=False))


def played(act, provider, prompts):
    """A step of a FakeServer: `prompts` are what may have been asked, one of which must be in the request."""
    step = {}

    def look(request):
        seen = seen_in(provider, request)
        if prompts and not any(json.dumps(one, ensure_ascii=False)[1:-1] in seen.said for one in prompts):
            return "none of %r was asked" % (prompts,)
        try:
            step["reply"] = act.do(seen)
        except AssertionError as why:
            return "the model cannot go on: %s" % why
        return None
    step["expect"] = look
    return step


def call(seen, name, **arguments):
    assert name in seen.tools, "%s is not declared: %s" % (name, sorted(seen.tools))
    return [{"call": name, "args": arguments}]


# ---- what a model does ----

def reads(name):
    return Act(lambda seen: call(seen, "read_file", file_path=name), "reads `%s`" % name)


def reads_all(*patterns):
    return Act(lambda seen: call(seen, "read_many_files", include=list(patterns)), "reads `%s`" % "`, `".join(patterns))


def searches(pattern):
    return Act(lambda seen: call(seen, next(name for name in ("grep_search", "search_files") if name in seen.tools),
                                 pattern=pattern), "searches for `%s`" % pattern)


def runs(command):
    return Act(lambda seen: call(seen, "run_shell_command", command=command), "runs `%s`" % command)


def changed(seen, name, before, after, sha256):
    """The call that makes `before` into `after`, by the editor that this model is given."""
    diff = "".join(difflib.unified_diff(before.splitlines(True), after.splitlines(True), "a/" + name, "b/" + name))
    if "apply_patch" in seen.tools or "Edit" not in seen.tools and "safe_patch" not in seen.tools:
        hunks = re.sub(r"^@@.*$", "@@", diff.split("\n", 2)[2], flags=re.MULTILINE)
        return call(seen, "apply_patch", input="*** Begin Patch\n*** Update File: %s\n%s*** End Patch\n" % (name, hunks))
    if "Edit" in seen.tools:
        lines = list(difflib.ndiff(before.splitlines(True), after.splitlines(True)))
        old, new = ("".join(line[2:] for line in lines if line[0] in " " + sign) for sign in "-+")
        return call(seen, "Edit", file_path=name, old_string=old, new_string=new)
    assert sha256, "the answer to the read has no hash"
    return call(seen, "safe_patch", file_path=name, diff=diff, base_content_sha256=sha256)


def changes(name, old, new):
    """A file that was read, or that came with the prompt (of its lines only these are known to be whole): `old` stands in
    it once."""
    def do(seen):
        if not seen.results and "Edit" in seen.tools:
            assert seen.said.count(old) == 1, seen.said
            return call(seen, "Edit", file_path=name, old_string=old, new_string=new)
        content, sha256 = seen.content(old)
        assert content.count(old) == 1, content
        return changed(seen, name, content, content.replace(old, new), sha256)
    return Act(do, "edits `%s`" % name)


def writes(name, form, pattern=None):
    """A new file: `form`, with what the pattern finds in the request."""
    def do(seen):
        content = form % found(seen, pattern) if pattern else form
        if "Write" in seen.tools:
            return call(seen, "Write", file_path=name, content=content)
        if "apply_patch" in seen.tools:
            added = "".join("+%s\n" % line for line in content.splitlines())
            return call(seen, "apply_patch", input="*** Begin Patch\n*** Add File: %s\n%s*** End Patch\n" % (name, added))
        return call(seen, "write_file", file_path=name, content=content)
    return Act(do, "writes `%s`" % name)


def remembers(fact):
    return Act(lambda seen: call(seen, "save_memory", fact=fact), "saves a memory")


# ---- what a model says ----

def found(seen, pattern):
    """In the answers to its calls, the last first, else in what the request says: the group, or all of the match."""
    texts = [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in reversed(seen.results)]
    for text in [*texts, seen.said]:
        match = re.search(pattern, text)
        if match:
            return match.group(match.lastindex or 0)
    raise AssertionError("%r is nowhere in %r" % (pattern, texts or seen.said))


def tells(pattern, form="%s"):
    """An answer with what it has read."""
    return Act(lambda seen: [{"text": form % found(seen, pattern)}], "answers from that")


def worked(seen):
    last = seen.last()
    text = last if isinstance(last, str) else json.dumps(last)
    assert not re.search(r'"success": ?false|"exit_code": ?[1-9]|declined', text), text
    return text


def done(words="Done as asked."):
    """The last call did what it was for."""
    def do(seen):
        worked(seen)
        return [{"text": words}]
    return Act(do, "says that it is done")


def after_refusal(words, act):
    """The last call was declined with these words: it does as they say."""
    def do(seen):
        last = json.dumps(seen.last(), ensure_ascii=False)
        assert words in last and "declined" in last, last
        return act.do(seen)
    return Act(do, "declined: " + act.words)


def words_of(script):
    """For the document: what the model does in a task, in order."""
    steps = [step[1] if isinstance(step, tuple) and not isinstance(step, Act) else step for step in script]
    acts = [step.words for step in steps if isinstance(step, Act)]
    return ", ".join(acts) or ("text only" if steps else "")
