# SPDX-License-Identifier: Apache-2.0
"""Answers that are none: the call that waits for one fails without waiting for its time to pass (600 s), and other calls
of the same server get theirs.  "@" is the id of the call, NUL that byte."""
import pytest
from fake_gemini import call, text
from test_http import far

ALLOW = ("--allowed-mcp-server-names", "fake,far")
DEEP = 200
RESULT = '"result":{"content":[{"type":"text","text":"bent"}]}'

# What the server sends instead of an answer, and what the call's error says.
BENT = {
    "a member twice": ('{"jsonrpc":"2.0","id":@,"id":@,%s}' % RESULT, "cannot be read"),
    "a member of the result twice": ('{"jsonrpc":"2.0","id":@,"result":{"a":1,"a":2}}', "cannot be read"),
    "a NUL in a name": ('{"jsonrpc":"2.0","id":@,"result":{"a\\u0000":1}}', "cannot be read"),
    "a NUL": ('{"jsonrpc":"2.0","id":@,NUL%s}' % RESULT, "cannot be read"),
    "an id that is a string": ('{"jsonrpc":"2.0","id":"@",%s}' % RESULT, "its id is not that of the request"),
    "an id that is a fraction": ('{"jsonrpc":"2.0","id":@.5,%s}' % RESULT, "cannot be read"),
    "an id that is a list": ('{"jsonrpc":"2.0","id":[@],%s}' % RESULT, "cannot be read"),
    "two ids": ('{"jsonrpc":"2.0","id":@,"id":99,%s}' % RESULT, "cannot be read"),
    "an id that is no value": ('{"jsonrpc":"2.0","id":,%s}' % RESULT, "cannot be read"),
    "no id": ('{"jsonrpc":"2.0",%s}' % RESULT, "cannot be read"),
    "a null id": ('{"jsonrpc":"2.0","id":null,%s}' % RESULT, "cannot be read"),
    "an error of no request": ('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}', "error"),
    "depth": ('{"jsonrpc":"2.0","id":@,"result":%s%s}' % ("[" * DEEP, "]" * DEEP), "cannot be read"),
    "cut short": ('{"jsonrpc":"2.0","id":@,"result":{"content":[{"type":', "cannot be read"),
    "cut before its id": ('{"jsonrpc":"2.0","resu', "cannot be read"),
    "something behind it": ('{"jsonrpc":"2.0","id":@,%s}}' % RESULT, "cannot be read"),
    "a result and an error": ('{"jsonrpc":"2.0","id":@,%s,"error":{"code":1,"message":"no"}}' % RESULT, "cannot be read"),
    "neither": ('{"jsonrpc":"2.0","id":@}', "cannot be read"),
    "an error that is none": ('{"jsonrpc":"2.0","id":@,"error":"no"}', "cannot be read"),
    "another version": ('{"jsonrpc":"1.0","id":@,%s}' % RESULT, "cannot be read"),
    "no version": ('{"id":@,%s}' % RESULT, "cannot be read"),
    "the id behind it": ('{%s,"jsonrpc":"2.0","id":@,}' % RESULT, "cannot be read"),
    "a batch that is broken": ('[{"jsonrpc":"2.0","id":@,"result":{}},', "cannot be read"),
    "a batch with one that is none": ('[{"jsonrpc":"2.0","id":@}]', "cannot be read"),
}
READ = {
    "a batch": '[{"jsonrpc":"2.0","id":@,%s}]' % RESULT,
    "bytes that are no UTF-8": '{"jsonrpc":"2.0","id":@,"result":{"content":[{"type":"text","text":"bent \xff"}]}}',
    "half a surrogate pair": r'{"jsonrpc":"2.0","id":@,"result":{"content":[{"type":"text","text":"bent \ud83d"}]}}',
    "what was printed before it": 'Loading ... {"jsonrpc":"2.0","id":@,%s}' % RESULT,
    "a line of a log before it": '{"level":"info","id":@}\n{"jsonrpc":"2.0","id":@,%s}' % RESULT,
    "its echo before it": 'got {"jsonrpc":"2.0","id":@,"method":"tools/call"\n{"jsonrpc":"2.0","id":@,%s}' % RESULT,
    "an answer to nothing before it": '{"jsonrpc":"2.0","id":4711,"result":{}}\n{"jsonrpc":"2.0","id":@,%s}' % RESULT,
}


def bent(line):
    return call("mcp_fake_echo", {"text": "~" + line})


def echo(said):
    return call("mcp_fake_echo", {"text": said})


def test_a_program_s_answers(world):
    """One call after the other, of one server that lives through all of them."""
    log = world.top / "log"
    world.use({"fake": world.server("fake", "--log", log, "bent", sandbox={"write": [str(world.top)]})})
    lines = [line for line, _ in BENT.values()] + list(READ.values())
    done = world.run([*[[bent(line)] for line in lines], [text("Done.")]], "-p", "Do it.", *ALLOW)
    assert done.code == 0, done.err
    got = [done.results(i + 1)[-1] for i in range(len(lines))]
    for (name, (_, said)), result in zip(BENT.items(), got):
        assert not result["success"] and said in result["message"], (name, result)
    for name, result in zip(READ, got[len(BENT):]):
        assert "bent" in result.get("output", ""), (name, result)
    assert log.read_text().count("initialize\n") <= 1, log.read_text()


@pytest.mark.parametrize("name", ["a member twice", "no id"])
def test_calls_at_the_same_time_get_their_answers(world, name):
    """Also where nothing says whose the broken one was: it is that of the call for which no other came."""
    world.use({"fake": world.server("fake", "bent")})
    calls = [echo("one"), bent(BENT[name][0]), echo("two"), bent(BENT[name][0]), echo("three")]
    done = world.run([calls, [text("Done.")]], "-p", "Do it.", *ALLOW)
    got = done.results()
    assert ["you said" in one.get("output", "") for one in got] == [True, False, True, False, True], got
    assert all("cannot be read" in one["message"] for one in (got[1], got[3])), got


def test_a_program_that_closes_its_output(world):
    """It runs on, and can answer nothing any more; the next call starts it again."""
    world.use({"fake": world.server("fake", "bent")})
    done = world.run([[bent("close")], [echo("again")], [text("Done.")]], "-p", "Do it.", *ALLOW)
    closed, again = done.results(1)[-1], done.results(2)[-1]
    assert not closed["success"] and "closed its standard output" in closed["message"], closed
    assert "you said again" in again.get("output", ""), again


@pytest.mark.parametrize("how", ["stream", "body"])
@pytest.mark.parametrize("name", BENT)
@pytest.mark.rows_in_turn(8)
def test_an_address_s_answers(world, name, how):
    """A stream that stays open."""
    with far(world, bent=how) as server:
        server.line = BENT[name][0]
        done = world.run([[call("mcp_far_echo", {"text": "x"})], [text("Done.")]], "-p", "Do it.", *ALLOW)
    (result,) = done.results()
    assert not result["success"] and BENT[name][1] in result["message"], result


def test_blanks_before_a_body(world):
    with far(world, bent="body") as server:
        server.line = " \r\n" + READ["a batch"]
        done = world.run([[call("mcp_far_echo", {"text": "x"})], [text("Done.")]], "-p", "Do it.", *ALLOW)
    (result,) = done.results()
    assert "bent" in result.get("output", ""), result


@pytest.mark.parametrize("how", ["stream", "body"])
def test_an_answer_to_another_request(world, how):
    with far(world, bent=how) as server:
        server.line = '{"jsonrpc":"2.0","id":4711,"result":{}}'
        done = world.run([[call("mcp_far_echo", {"text": "x"})], [text("Done.")]], "-p", "Do it.", *ALLOW)
    (result,) = done.results()
    assert not result["success"] and "its id is not that of the request" in result["message"], result
