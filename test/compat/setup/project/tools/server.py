# SPDX-License-Identifier: Apache-2.0
"""An MCP server with one tool and one prompt, which say the name that the server was started with."""
import json
import sys

NAME = sys.argv[1]
TEXT = {"type": "string"}
ANSWERS = {
    "initialize": lambda given: {
        "protocolVersion": given["protocolVersion"], "capabilities": {"tools": {}, "prompts": {}},
        "serverInfo": {"name": NAME, "version": "1"}},
    "ping": lambda given: {},
    "tools/list": lambda given: {"tools": [{
        "name": "ask", "description": "Asks %s." % NAME,
        "inputSchema": {"type": "object", "properties": {"what": TEXT}, "required": ["what"]}}]},
    "tools/call": lambda given: {"content": [{
        "type": "text", "text": "%s heard: %s" % (NAME, given["arguments"]["what"])}]},
    "prompts/list": lambda given: {"prompts": [{
        "name": "greet-" + NAME, "description": "Greets.",
        "arguments": [{"name": "who", "required": True}]}]},
    "prompts/get": lambda given: {"messages": [{"role": "user", "content": {
        "type": "text", "text": "%s says: greet %s." % (NAME, given["arguments"]["who"])}}]},
}
for line in sys.stdin:
    message = json.loads(line)
    answer = ANSWERS.get(message.get("method"))
    if "id" in message:
        said = ({"result": answer(message.get("params") or {})} if answer else
                {"error": {"code": -32601, "message": "There is no such method."}})
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}), flush=True)
