# SPDX-License-Identifier: Apache-2.0
"""script/demo python: a hook that changes arguments, one that denies, one that asks.

No network is needed: the model's part is played back.  The program between the lines is what a user
would write.
"""

import asyncio
import json
import os
import sys
import tempfile
import zipfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
CALLS = [
    ("write_file", {"file_path": "notes.txt", "content": "Written by the MODEL.\n"}),
    ("run_shell_command", {"command": "rm -rf build"}),
    ("write_file", {"file_path": "report.txt", "content": "All is well.\n"}),
]


def unpacked(folder, build):
    """The wheel of script/build python, where it can be imported from."""
    with zipfile.ZipFile(next((build / "python").glob("*.whl"))) as wheel:
        wheel.extractall(folder)
    for one in (folder / "hasp/_lib").iterdir():
        one.chmod(0o755)
    sys.path.insert(0, str(folder))


def answers(path):
    parts = [{"functionCall": {"name": name, "args": given}} for name, given in CALLS]
    parts.append(
        {
            "text": "One file is written as you wanted, one command was refused, "
            "one file you allowed."
        }
    )
    lines = [
        {
            "method": "generateContentStream",
            "response": [
                {
                    "candidates": [
                        {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
                    ]
                }
            ],
        }
        for part in parts
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return "replay:%s" % path


# ---- the program -----------------------------------------------------------------------
def program(model, root):
    import hasp

    class Signs:
        def before_tool_execution(self, event_name, agent, kwargs):
            if kwargs["tool_name"] == "write_file":
                content = kwargs["tool_args"]["content"].replace("MODEL", "model, signed")
                return {
                    "proceed": True,
                    "modified_args": {**kwargs["tool_args"], "content": content},
                }

    class KeepsBuild:
        def before_tool_execution(self, event_name, agent, kwargs):
            if "rm -rf" in str(kwargs["tool_args"]):
                raise hasp.DeniedByHook("Nothing is removed here.")

    class Asks:
        def ask(self, question):
            print("asked:  %s %s" % (question.tool, [file.path for file in question.files]))
            return hasp.Answer.once()

    async def work():
        async with hasp.Agent(model, root, hooks=[Signs(), KeepsBuild()], approval=Asks()) as agent:
            async for event in agent.prompt("Write the notes and the report."):
                if event.kind == "tool_result":
                    print("result:", event.data["result"].get("message"))
                elif event.kind == "done":
                    print("model: ", event.text)

    asyncio.run(work())


# ---- its end ---------------------------------------------------------------------------


def main():
    with tempfile.TemporaryDirectory() as top:
        top = Path(top)
        home, root = top / "home", top / "project"
        (home / ".gemini").mkdir(parents=True)
        (root / "build").mkdir(parents=True)
        os.environ["HOME"] = str(home)
        unpacked(top / "package", Path(*sys.argv[1:2] or [TOP / "build"]))
        program(answers(top / "answers"), root)
        for name in ("notes.txt", "report.txt"):
            print("%s: %s" % (name, (root / name).read_text().strip()))
        print("build/: %s" % ("kept" if (root / "build").is_dir() else "gone"))


if __name__ == "__main__":
    main()
