"""NCCL through the real library: its collectives, and what no document says of them."""

from machine import tail
from report import Failed, NotPossible

PROGRAM = "nccl_on_gpu"


def launch(machine, ranks, tests, deadline):
    """Output of the tests that `tests` selects; NotPossible where all of them were skipped."""
    program = machine.pack / "bin" / PROGRAM
    if not program.exists():
        raise NotPossible(f"the pack has no {PROGRAM}")
    result = machine.mpiexec(ranks, [program, f"--gtest_filter={tests}"], deadline.require())
    if result.returncode != 0:
        raise Failed(f"{tail(result)} ... {result.stdout[-400:]}")
    if "[  PASSED  ] 0 tests." in result.stdout or "[       OK ]" not in result.stdout:
        raise NotPossible(skip_reason(result.stdout))
    return result.stdout


def skip_reason(text):
    """The line behind the first "Skipped" of GoogleTest's output."""
    rows = text.splitlines()
    for row, following in zip(rows, rows[1:]):
        if row.endswith(": Skipped"):
            return following.strip()
    return "no test ran"


def facts_in(text):
    """What stands in lines "FACT name = value"."""
    pairs = (row.removeprefix("FACT ").partition(" = ") for row in text.splitlines()
             if row.startswith("FACT "))
    return {name: value for name, _, value in pairs}


def collectives(machine, ranks, devices, deadline, facts):
    require_devices(ranks, devices)
    text = launch(machine, ranks, "NcclOnGpu.*", deadline)
    facts["tests passed"] = text.count("[       OK ]")


def question(machine, ranks, devices, test, deadline, facts):
    """Asks one question; the answer is a fact, whatever it is."""
    require_devices(ranks, devices)
    facts.update(facts_in(launch(machine, ranks, f"NcclFacts.{test}", deadline)))
    if not facts:
        raise Failed(f"{test} told nothing")


def require_devices(ranks, devices):
    if devices < ranks:
        raise NotPossible(f"{ranks} ranks need {ranks} GPUs, since NCCL refuses two ranks on one; "
                          f"here {'is' if devices == 1 else 'are'} {devices or 'none'}")


