"""Parts of the run, each with its time-out: what becomes of them, as a table and as JSON."""

import json
import time
import traceback


class Failed(Exception):
    """What was tried did not come out as it has to."""


class NotPossible(Exception):
    """Nothing can be said here, for the reason given."""


class Deadline:
    """The end of everything. A part never gets more seconds than are left until then."""

    def __init__(self, seconds, now=time.monotonic):
        self._now = now
        self._end = now() + seconds

    def left(self):
        return self._end - self._now()

    def within(self, seconds):
        """The deadline of something that may take `seconds` and no longer than this one."""
        return Deadline(max(0.0, min(seconds, self.left())), self._now)

    def require(self):
        """The seconds left, of which there have to be some."""
        left = self.left()
        if left <= 0:
            raise Failed("out of time")
        return left


class Report:
    """Results of all parts, in order. `facts` are what a part found out beside its verdict."""

    def __init__(self, deadline, say=print, after=lambda report: None):
        self._deadline = deadline
        self._say, self._after = say, after
        self.results = []

    def run(self, name, seconds, part):
        """Runs part(deadline, facts), whatever it raises, and keeps what it says."""
        facts, begin = {}, time.monotonic()
        try:
            if self._deadline.left() <= 0:
                raise Failed("no time was left")
            outcome, reason = "pass", part(self._deadline.within(seconds), facts) or ""
        except NotPossible as why:
            outcome, reason = "not possible", str(why)
        except Failed as why:
            outcome, reason = "fail", str(why)
        except Exception as why:  # pylint: disable=broad-except
            outcome, reason = "fail", f"{type(why).__name__}: {why}"
            facts["traceback"] = traceback.format_exc()
        result = {"part": name, "outcome": outcome, "reason": reason,
                  "seconds": round(time.monotonic() - begin, 1), "facts": facts}
        self.results.append(result)
        self._say(line(result))
        for fact, value in facts.items():
            if fact != "traceback":
                self._say(f"    {fact}: {value}")
        self._after(self)
        return result

    def failed(self):
        return [result["part"] for result in self.results if result["outcome"] == "fail"]

    def table(self):
        return "\n".join(line(result) for result in self.results)

    def write(self, path, **more):
        path.write_text(json.dumps({**more, "parts": self.results}, indent=2) + "\n")


def line(result):
    first = result["reason"].strip().split("\n")[0][:150]
    return f"{result['outcome']:<13}{result['seconds']:>7.1f} s  {result['part']:<44}{first}".rstrip()
