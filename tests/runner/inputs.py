# SPDX-License-Identifier: GPL-2.0-or-later
"""What the result of a suite depends on: its inputs, files of this tree, and a key of their
contents. Comments of C files do not count, except for suites with the tag "comments"."""

import fnmatch
import functools
import hashlib
import io
import os
import re
import subprocess
import tempfile

from suite import TESTS

REPO = os.path.dirname(TESTS)
# Of every suite.
ALWAYS = ["tests/lib/tap.sh", "tests/lib/wait.sh"]
# Of those with a tag.
BY_TAG = {
    "vm": ["tests/vm/run", "tests/vm/guest", "tests/vm/init", "tests/vm/fetch", "tests/vm/versions",
           "tests/vm/debian", "tests/vm/kernel_log.py", "tests/lib/src", "kmod/build", "kmod/Kbuild"],
}
# Names for what many suites depend on, for "# of:".
GROUPS = {
    "TOOL": ["common", "eadm", "libeadm", "spec"],
    # Drivers link code that they share.
    "kmod/erdma": ["kmod/core", "kmod/erdma"],
    "kmod/efa": ["kmod/core", "kmod/efa"],
    # What a distribution compiles, and the quick suites that run it.
    "USERLAND": [".codespellrc", "common", "completions", "eadm", "examples", "kmod/uapi", "libeadm", "man",
                 "meson.build", "meson_options.txt", "packaging", "pvrdma", "spec", "tests/bench/*.c",
                 "tests/bench/*.py", "tests/bench/meson.build", "tests/bundle", "tests/captures",
                 "tests/cli", "tests/exporter", "tests/family", "tests/golden", "tests/lib",
                 "tests/pvrdma", "tests/run", "tests/runner", "tests/tree", "tests/unit"],
    "COMPANION": ["kmod/eadm", "kmod/include", "kmod/uapi", "kmod/compat"],
}
# What running suites changes.
RESULTS = {"tests/ledger", "tests/README.md"}
KEY_LENGTH = 12
# A string or character literal, or a comment.
C_TOKEN = re.compile(rb'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)


def git(*args, env=None):
    return subprocess.run(["git", *args], cwd=REPO, stdout=subprocess.PIPE, text=True, check=True,
                          env={**os.environ, **(env or {})}).stdout


def has_history():
    """Whether this is a checkout."""
    return os.path.exists(f"{REPO}/.git")


@functools.cache
def working_tree():
    """The tree object of what is in the checkout now, committed or not."""
    with tempfile.TemporaryDirectory() as folder:
        env = {"GIT_INDEX_FILE": f"{folder}/index"}
        git("read-tree", "HEAD", env=env)
        git("add", "--all", env=env)
        return git("write-tree", env=env).strip()


def paths(suite):
    """Files and folders whose contents the suite's result depends on."""
    found = [f"tests/suites/{suite.file}", *ALWAYS]
    found += [f"tests/{folder}" for folder in suite.where]
    for tag in suite.tags:
        found += BY_TAG.get(tag, [])
    for word in suite.of:
        found += GROUPS.get(word, [word])
    return sorted(set(found))


@functools.cache
def _contents(tree):
    """Path and object of each file."""
    rows = (line.split("\t", 1) for line in git("ls-tree", "-r", tree).splitlines())
    return [(path, head.split()[2]) for head, path in rows]


def _within(path, folders):
    return any(path == folder or path.startswith(folder + "/") or fnmatch.fnmatch(path, folder)
               for folder in folders)


def without_comments(text):
    """The bytes of a C file without comments, empty lines and spaces at the end of lines."""
    text = C_TOKEN.sub(lambda token: token[0] if token[0][:1] != b"/" else b" ", text)
    return b"\n".join(line.rstrip() for line in text.splitlines() if line.strip())


@functools.cache
def _code(tree):
    """Digest of each C file's code, by path."""
    files = [(path, blob) for path, blob in _contents(tree) if path.endswith((".c", ".h"))]
    reader = subprocess.run(["git", "cat-file", "--batch"], cwd=REPO, check=True, stdout=subprocess.PIPE,
                            input="".join(f"{blob}\n" for _, blob in files).encode())
    output, digests = io.BytesIO(reader.stdout), {}
    for path, _ in files:
        size = int(output.readline().split()[2])
        digests[path] = hashlib.sha256(without_comments(output.read(size))).hexdigest()
        output.read(1)
    return digests


def key(suite, tree=None):
    """Digest of its inputs without RESULTS."""
    tree = tree or working_tree()
    wanted = paths(suite)
    code = {} if "comments" in suite.tags else _code(tree)
    digest = hashlib.sha256()
    for path, blob in _contents(tree):
        if _within(path, wanted) and path not in RESULTS:
            digest.update(f"{path} {code.get(path, blob)}\n".encode())
    return digest.hexdigest()[:KEY_LENGTH]


def changed(suites, base):
    """Those whose inputs differ from a commit's."""
    return [suite for suite in suites if key(suite) != key(suite, base)]


def missing(suite):
    """Inputs that no file of the tree has."""
    files = [path for path, _ in _contents(working_tree())]
    return [folder for folder in paths(suite) if not any(_within(path, [folder]) for path in files)]


def commit():
    """What is run: the commit, with "+" when the tree differs from it."""
    same = git("rev-parse", "HEAD^{tree}").strip() == re.sub(r"\s", "", working_tree())
    return git("rev-parse", "--short", "HEAD").strip() + ("" if same else "+")
