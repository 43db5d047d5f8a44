# SPDX-License-Identifier: Apache-2.0
"""hasp._native: libhasp-agent as its public header declares it, compiled by the C compiler.

The declarations are the header's own text, so that they cannot differ from it; functions of Python
that the library calls are added.
"""
import os
import re
from pathlib import Path

from cffi import FFI

HERE = Path(__file__).resolve().parent
HEADER = Path(os.environ.get("HASP_INCLUDE", HERE.parent / "include")) / "hasp_agent.h"

CALLBACKS = """
extern "Python" void hasp_python_tool(void *, const char *, hasp_tool_answer *);
extern "Python" void hasp_python_hook(void *, hasp_event, const char *, hasp_decision *);
extern "Python" void hasp_python_message(void *, const char *, const char *);
extern "Python" void hasp_python_notice(void *, const char *, const char *);
"""


def declarations(text: str) -> str:
    """What of a header is C and no preprocessor's business."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"#ifdef __cplusplus\n.*?#endif\n", "", text, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", "", text, flags=re.M)
    return re.sub(r"\bHASP_(AGENT_)?API ", "", text)


ffi = FFI()
ffi.cdef(declarations(HEADER.read_text(encoding="utf-8")) + CALLBACKS)
ffi.set_source(
    "hasp._native",
    '#include "hasp_agent.h"',
    include_dirs=[str(HEADER.parent)],
    library_dirs=[os.environ.get("HASP_LIBRARIES", str(HERE / "hasp" / "_lib"))],
    libraries=["hasp-agent"],
    extra_link_args=["-Wl,-rpath,$ORIGIN/_lib"],
    extra_compile_args=["-O2"],
)

if __name__ == "__main__":
    ffi.compile(verbose=True)
