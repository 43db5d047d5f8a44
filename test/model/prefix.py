# SPDX-License-Identifier: Apache-2.0
"""What has been sent stays as it was: whether a request begins with the one before it.

    items(body)                   a request of any of the four formats as a list, what comes first first
    Appended().check(body)        [violation]: it does not begin with the last request that was checked
    share(before, now)            how much of `now` equals the beginning of `before`: 0 to 1, by bytes
    Bound                         Anthropic's thinking, bound to what stood before it

Where it is documented:

- Anthropic, platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks: a request is
  refused if `system`, `tools` or an earlier message changed after a thinking block was made, or a block
  between others was left out. cache_control is not compared. Models since Claude Fable 5.1 do so; this fake
  does it for all.
- OpenAI, developers.openai.com/api/docs/guides/prompt-caching, and Gemini, ai.google.dev/gemini-api/docs/caching:
  a cache serves the beginning that is equal. Neither refuses; encrypted reasoning and thought signatures are
  bound to their own item or call, not to what stands before (ai.google.dev/gemini-api/docs/thought-signatures).
"""
import hashlib
import json

# A compaction begins a conversation anew.
ANEW = "The earlier part of this conversation was left out"


def bare(value):
    """Without marks for the cache."""
    if isinstance(value, dict):
        return {name: bare(one) for name, one in value.items() if name != "cache_control"}
    return [bare(one) for one in value] if isinstance(value, list) else value


def listed(value):
    return value if isinstance(value, list) else [] if value is None else [value]


def items(body):
    """(whose, what) in the order in which it is cached; messages in their blocks, so that more may be added to
    the last one."""
    # Anthropic: "Deferred tools are not included in the system-prompt prefix" (tool use with prompt caching).
    found = [("tools", one) for one in listed(body.get("tools")) if not one.get("defer_loading")]
    for name in ("system", "systemInstruction", "instructions"):
        found += [("system", one) for one in listed(body.get(name))]
    for content in body.get("contents", []):
        found += [(content["role"], part) for part in content["parts"]]
    for message in body.get("messages", []):
        blocks = message.get("content")
        if isinstance(blocks, list) and message["role"] in ("user", "assistant"):
            found += [(message["role"], block) for block in blocks]
        else:
            found.append((message["role"], message))
    for item in listed(body.get("input")):
        if item.get("role") == "user":
            found += [("user", part) for part in item["content"]]
        else:
            found.append((item.get("role", item.get("type")), item))
    return [(whose, bare(what)) for whose, what in found]


def size(found):
    return sum(len(json.dumps(one)) for one in found)


def common(before, now):
    """How many items both begin with."""
    count = 0
    while count < min(len(before), len(now)) and before[count] == now[count]:
        count += 1
    return count


def share(before, now):
    before, now = items(before), items(now)
    return size(now[:common(before, now)]) / size(now)


class Appended:
    """Of the requests of one conversation; those without functions are about something else."""

    def __init__(self):
        self.last = self.previous = None

    def refused(self):
        """The request was refused: nothing is to begin with it."""
        self.last = self.previous

    def check(self, body):
        now, before = items(body), self.last
        if not any({"functionDeclarations", "function", "input_schema", "parameters"} & set(tool)
                   for tool in body.get("tools", [])):
            return []
        self.previous, self.last = before, now
        said = [whose for whose, _ in now if whose not in ("tools", "system", "user", "developer")]
        if before is None or not said or ANEW in json.dumps(now):
            return []
        same = common(before, now)
        if same == len(before):
            return []
        return ["what was sent has changed: item %d, of %s, was %.300s and is %.300s" % (
            same, before[same][0], json.dumps(before[same][1]),
            json.dumps(now[same][1]) if same < len(now) else "gone")]


def is_thought(block):
    return block.get("type") in ("thinking", "redacted_thinking")


class Bound:
    """Thinking blocks by their signature: what stood before them when they were made."""

    MISMATCH = ("messages.%d.content.%d: Invalid `signature` in `thinking` block. The block is bound to a "
                "different conversation. Remove the block, or set "
                "`thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\". That setting requires "
                "the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header.")

    def __init__(self):
        self.prefixes, self.previous = {}, {}

    @staticmethod
    def key(block):
        return block.get("signature", block.get("data"))

    @staticmethod
    def digest(body, count):
        """Of all before message `count`, but thinking: that is bound one block to the next."""
        found = [one for one in items(dict(body, messages=body["messages"][:count]))
                 if not is_thought(one[1])]
        return hashlib.sha256(json.dumps(found).encode()).hexdigest()

    @classmethod
    def thoughts(cls, body):
        return [cls.key(block) for message in body["messages"] if message["role"] == "assistant"
                for block in message["content"] if is_thought(block)]

    def made(self, body, blocks):
        """The blocks are of the reply to this request."""
        before = (self.thoughts(body) or [None])[-1]
        for block in blocks:
            self.prefixes[self.key(block)] = self.digest(body, len(body["messages"]))
            self.previous[self.key(block)] = before
            before = self.key(block)

    def check(self, body):
        before = None
        for i, message in enumerate(body["messages"]):
            if message["role"] != "assistant":
                continue
            for j, block in enumerate(message["content"]):
                if not is_thought(block):
                    continue
                key = self.key(block)
                wanted = self.prefixes.get(key)
                if wanted and (self.digest(body, i) != wanted or
                               before not in (None, self.previous[key])):
                    return [self.MISMATCH % (i, j)]
                before = key
        return []
