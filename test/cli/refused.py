# SPDX-License-Identifier: Apache-2.0
"""refused.py CALL CMD [ARG]...: runs CMD where the kernel refuses a system call with EPERM, as the filter
of a container's runtime does."""
import ctypes
import os
import platform
import struct
import sys

NUMBERS = {
    "symlinkat": {"x86_64": 266, "aarch64": 36},
    "landlock_restrict_self": {"x86_64": 446, "aarch64": 446},
}
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06  # BPF
ALLOW, EPERM = 0x7FFF0000, 0x00050001


class Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def refuse(number):
    code = b"".join(struct.pack("=HBBI", *row) for row in [
        (LOAD, 0, 0, 0), (EQUAL, 0, 1, number), (RETURN, 0, 0, EPERM), (RETURN, 0, 0, ALLOW)])
    text = ctypes.create_string_buffer(code, len(code))
    program = Program(len(code) // 8, ctypes.cast(text, ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
            PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "there is no filter")


if __name__ == "__main__":
    refuse(NUMBERS[sys.argv[1]][platform.machine()])
    os.execvp(sys.argv[2], sys.argv[2:])
