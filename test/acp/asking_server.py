# SPDX-License-Identifier: Apache-2.0
"""An MCP server with one tool, "ask", which asks the user for a name and a size and returns the answer."""
import json
import sys

SCHEMA = {"type": "object", "required": ["name"], "properties": {
    "name": {"type": "string", "title": "Name", "description": "Yours", "maxLength": 20},
    "size": {"type": "string", "enum": ["S", "L"], "enumNames": ["Small", "Large"]},
    "times": {"type": "integer", "minimum": 1, "default": 2}}}
INFO = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "asking", "version": "1"}}
TOOLS = {"tools": [{"name": "ask", "description": "Asks.", "inputSchema": {"type": "object", "properties": {}}}]}


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        send({"id": id, "result": INFO})
    elif method == "tools/list":
        send({"id": id, "result": TOOLS})
    elif method == "tools/call":
        called = id
        send({"id": "ask", "method": "elicitation/create",
              "params": {"mode": "form", "message": "Who?", "requestedSchema": SCHEMA}})
    elif id == "ask":
        send({"id": called, "result": {"content": [{"type": "text", "text": json.dumps(message["result"])}]}})
    elif id is not None:
        send({"id": id, "error": {"code": -32601, "message": "no"}})
