# SPDX-License-Identifier: Apache-2.0
"""What GNU patch and git apply make of the same diffs, each with its own defaults."""

import os
import subprocess

PEERS = ("GNU patch", "git apply")


def by_patch(case, folder):
    name = case.name
    path, text = os.path.join(folder, name), os.path.join(folder, "the.diff")
    for where, data in ((path, case.before[name]), (text, case.diff)):
        with open(where, "wb") as file:
            file.write(data)
    done = subprocess.run(["patch", "-s", "-f", "--no-backup-if-mismatch", "-r", "-", path, text], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if done.returncode != 0:
        return None
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def by_git(case, folder):
    name = case.name
    diff = case.diff
    if b"\n--- " not in b"\n" + diff:  # it needs names: with them it has a chance
        diff = b"--- a/%s\n+++ b/%s\n" % ((name.encode(),) * 2) + diff
    with open(os.path.join(folder, name), "wb") as file:
        file.write(case.before[name])
    strip = "-p1" if b"--- a/" in diff or b"--- old/" in diff or b"--- i/" in diff or b'--- "a/' in diff else "-p0"
    done = subprocess.run(["git", "apply", "--unidiff-zero", "--whitespace=nowarn", strip, "-"], input=diff, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          env=dict(os.environ, GIT_CEILING_DIRECTORIES=os.path.dirname(folder)))
    if done.returncode != 0:
        return None
    try:
        with open(os.path.join(folder, name), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def outcomes(case, folder):
    """Per program, what it makes of the case's file: bytes, or None for a refusal; {} for what is no diff of one file."""
    if not case.diff or len(case.before) != 1:
        return {}
    return {"GNU patch": by_patch(case, folder), "git apply": by_git(case, folder)}
