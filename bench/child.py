"""A Python program of the bench as a child process that is asked and answers, line by line."""

from __future__ import annotations

import subprocess
import sys
from typing import IO, cast

END_SECONDS = 20.0


class Child:
    """One run of ``python -m <module> <arguments>``, which answers each line with one.

    It must end at the end of its standard input: so it ends with this process. Its first line
    says that it is ready. Use it in a with statement.
    """

    def __init__(self, module: str, *arguments: str) -> None:
        self._module = module
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C is ours to pass on, in order.
        )
        try:
            self._hear()
        except BaseException:  # a Ctrl-C too: it may not read its input for long
            self.process.terminate()
            raise

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def tell(self, line: str) -> None:
        """Send a line."""
        stdin = cast(IO[str], self.process.stdin)
        stdin.write(line + "\n")
        stdin.flush()

    def ask(self, line: str) -> str:
        """Send a line; the answer."""
        self.tell(line)
        return self._hear()

    def check(self) -> None:
        """RuntimeError once it has ended with an error."""
        if self.process.poll():
            raise RuntimeError(f"{self._module} ended with code {self.process.returncode}")

    def close(self) -> None:
        """End it. Safe to call again."""
        for stream in (self.process.stdin, self.process.stdout):
            cast(IO[str], stream).close()
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _hear(self) -> str:
        line = cast(IO[str], self.process.stdout).readline()
        if not line:
            self.process.wait(END_SECONDS)
            raise RuntimeError(f"{self._module} ended with code {self.process.returncode}")
        return line.strip()
