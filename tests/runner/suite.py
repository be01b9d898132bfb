# SPDX-License-Identifier: GPL-2.0-or-later
"""A test suite: an executable in tests/suites that prints TAP."""

import os
import re
import signal
import subprocess
import threading
import time

TESTS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
SUITES = f"{TESTS}/suites"
RESULT = re.compile(r"(not )?ok\b\s*\d*\s*(?:- )?(.*)")
PLAN = re.compile(r"1\.\.(\d+)\s*(#.*)?$")
OUTPUT_LINES = 300
# Of a failed test, once more at the end of the run.
LAST_LINES = 20
# Seconds that a suite has to clean up after itself.
GRACE = 10
LEVELS = ("gate", "deep")

print_lock = threading.Lock()


def say(text):
    with print_lock:
        print(text, flush=True)


class Suite:
    """One executable, what its first lines declare and what came of it."""

    def __init__(self, file, variant=None):
        self.file, self.name = file, file
        with open(f"{SUITES}/{file}", errors="replace") as opened:
            text = opened.read()
        head = re.match(r"#!.*\n# SPDX.*\n((?:#.*\n)+)", text)[1]
        words = dict(re.findall(r"^# (level|limit|tags|where|of): (.*)$", head, re.M))
        self.level = words.get("level")
        if self.level not in LEVELS:
            raise SystemExit(f"tests/run: {file}: no line '# level: gate' or '# level: deep'")
        self.variants = {name: (int(limit), dict(word.split("=", 1) for word in settings.split()))
                         for name, limit, settings in
                         re.findall(r"^# variant: (\S+) (\d+) (.*)$", head, re.M)}
        self.settings, self.limit = {}, int(words.get("limit", 300))
        self._choose(variant)
        if os.environ.get("EADM_TESTS") == "full":
            self.limit *= 3
        self.tags = words.get("tags", "").split()
        if self.has_guests and "debug" in os.environ.get("EADM_TEST_KERNELS", "").split():
            self.limit *= 3
        self.where = words.get("where", "").split()
        self.of = words.get("of", "").split()
        self.about = " ".join(re.findall(r"^# (?!(?:level|limit|tags|where|of|variant): )(.*)$",
                                         head, re.M))
        # Guests of these unless the environment names others.
        found = re.search(r"\${EADM_TEST_KERNELS:-(.*?)}", text)
        self.kernels = found[1] if found else None
        # Guards the start of the process against stop(), which may come from another thread.
        self.lock = threading.Lock()
        self.stopped = False
        self.reset()

    def reset(self):
        """Forgets what a run brought, before the next one."""
        self.passed, self.failed, self.skipped = 0, 0, 0
        # For the ledger: digest of the inputs when it began, and seconds of the runner's own stalls.
        self.key, self.stall = "", 0
        self.process, self.overdue = None, False
        self.began, self.seconds, self.cpu = 0, 0, 0
        self.failures, self.failed_tests = [], []

    def _choose(self, variant):
        """Becomes this variant, or the one that the environment makes of it."""
        known = {key for _, settings in self.variants.values() for key in settings}
        present = {key: os.environ[key] for key in known if key in os.environ}
        if not variant:
            for name, (_, settings) in self.variants.items():
                if settings == present:
                    variant = name
        if variant:
            self.limit, self.settings = self.variants[variant]
        elif present:
            variant = ",".join(f"{key}={value}" for key, value in sorted(present.items()))
        if variant:
            self.name = f"{self.file}/{variant}"

    @property
    def has_guests(self):
        return "vm" in self.tags

    def _start(self):
        with self.lock:
            if self.stopped:
                return False
            self.process = subprocess.Popen(
                [f"{SUITES}/{self.file}"], env={**os.environ, **self.settings},
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                cwd=os.path.dirname(TESTS), start_new_session=True, text=True, errors="replace")
            return True

    def run(self, patience, stalls):
        """Runs it within its limit, times the patience; prints results as they come."""
        self.began = time.monotonic()
        if not self._start():
            return
        limit = self.limit * patience
        timer = threading.Timer(limit, self._expire)
        # The program may end before the suite: a signal interrupts this in the main thread.
        timer.daemon = True
        timer.start()
        plan, since = None, []
        for line in self.process.stdout:
            if match := RESULT.match(line):
                self.result(bool(match[1]), match[2].strip(), since)
                since = []
            elif match := PLAN.match(line):
                plan = int(match[1])
            else:
                since.append(line)
        status = self._wait()
        timer.cancel()
        timer.join()
        ran = self.passed + self.failed + self.skipped
        if self.overdue:
            self.result(True, f"ends within {limit} s", since)
        elif status and not self.failed:
            self.result(True, f"ends well (its status is {status})", since)
        elif plan is not None and plan != ran:
            self.result(True, f"runs {plan} tests (it ran {ran})", since)
        elif not ran:
            self.result(True, "has a test", since)
        self.seconds = time.monotonic() - self.began
        self.stall = stalls.since(self.began)
        say(f"# {self.name}: {self.seconds:.0f} s, {self.cpu:.0f} s of CPU, stall {self.stall:.0f} s")

    def _wait(self):
        """Returns its status, and notes the CPU time of it and of all that it waited for."""
        try:
            _, status, usage = os.wait4(self.process.pid, 0)
        except ChildProcessError:
            # stop() has found it ended.
            return self.process.wait()
        self.cpu = usage.ru_utime + usage.ru_stime
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return self.process.returncode

    def _expire(self):
        self.overdue = True
        self.terminate()
        self.kill_after(time.monotonic() + GRACE)

    def stop(self):
        """Keeps it from being started, and asks it to end if it runs."""
        with self.lock:
            self.stopped = True
        self.terminate()

    def _signal(self, signum):
        """Sends it to the suite and to all that it started; false once they are gone."""
        if not self.process:
            return False
        try:
            os.killpg(self.process.pid, signum)
            return True
        except ProcessLookupError:
            return False

    def terminate(self):
        self._signal(signal.SIGTERM)

    def kill_after(self, deadline):
        """Kills what has not ended by then."""
        while time.monotonic() < deadline and self._signal(0):
            self.process.poll()
            time.sleep(0.1)
        self._signal(signal.SIGKILL)

    def result(self, failed, what, output):
        # Where all tools were installed, a skipped test is a broken one.
        skip = not failed and re.search(r"# *skip\b", what, re.I)
        if skip and os.environ.get("CI") == "true":
            failed = True
        if failed:
            self.failed += 1
            self.failed_tests.append(what)
        elif skip:
            self.skipped += 1
        else:
            self.passed += 1
        lines = [f"{'not ok' if failed else 'ok'} {self.name}: {what}"]
        if failed:
            if len(output) > OUTPUT_LINES:
                lines.append(f"    ({len(output) - OUTPUT_LINES} lines left out)")
            lines += ["    " + line.rstrip() for line in output[-OUTPUT_LINES:]]
            self.failures += [lines[0]] + lines[1:][-LAST_LINES:]
        say("\n".join(lines))


def all_suites():
    return [Suite(name) for name in sorted(os.listdir(SUITES))
            if re.fullmatch(r"[a-z0-9-]+", name) and os.access(f"{SUITES}/{name}", os.X_OK)]


def select(words, level):
    """Suites that have one of the words as tag or name, or this variant; without words those
    of the level, or all of them."""
    suites = all_suites()
    if not words:
        return [s for s in suites if level in ("all", s.level)]
    chosen = [s for s in suites if any(w in s.tags or w in (s.file, s.name) for w in words)]
    for word in words:
        if any(word in s.tags or word in (s.file, s.name) for s in suites):
            continue
        name, _, variant = word.partition("/")
        if not any(name == s.file and variant in s.variants for s in suites):
            raise SystemExit(f"tests/run: no suite has the name or tag '{word}'")
        chosen.append(Suite(name, variant))
    return chosen
