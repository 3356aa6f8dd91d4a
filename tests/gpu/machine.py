"""The machine, the pack of prebuilt programs, and the LibTorch of a Python's torch package."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tarfile

from report import Failed, NotPossible

LOADED = """
import json, os, torch
libraries = {row.split()[-1] for row in open("/proc/self/maps") if ".so" in row}
wanted = ("torch", "c10", "cudart", "nccl", "cudnn", "cublas", "cupti")
found = {os.path.dirname(path) for path in libraries
         if os.path.basename(path).removeprefix("lib").startswith(wanted)}
home = os.path.join(os.path.dirname(torch.__file__), "lib")
print(json.dumps({"version": torch.__version__, "home": home,
                  "directories": [home, *sorted(found - {home})]}))
"""


def torch_of(python, seconds):
    """Version and library directories of `python`'s torch: those of what it really has loaded."""
    printed = run([python, "-c", LOADED], seconds)
    if printed.returncode != 0:
        lines = printed.stderr.strip().splitlines() or ["it says nothing"]
        raise Failed(f"{python} does not load torch ({lines[-1][-300:]}); name one that does by "
                     "LOCKSTEP_GPU_PYTHON")
    return json.loads(printed.stdout)


def unpacked(pack, directory):
    """The directory of a pack, which may be a tarball."""
    pack = pathlib.Path(pack).resolve()
    if pack.is_dir():
        return pack
    if not pack.exists():
        raise Failed(f"{pack} is not there: bash tests/gpu/pack.sh makes it, where Lockstep is built")
    with tarfile.open(pack) as archive:
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(directory, **safely)
    return pathlib.Path(directory) / "gpu-pack"


def version(text):
    return tuple(int(part) for part in re.findall(r"\d+", text))


class Machine:
    """Starts the pack's programs with its libraries before those of torch and of the machine."""

    def __init__(self, pack, torch, python):
        self.pack, self.torch, self.python = pack, torch, python
        self.manifest = json.loads((pack / "manifest.json").read_text())
        self.lockstep = str(pack / "bin" / "lockstep")
        self._standard_library = []
        self.knows_devices = False

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("SLURM_", "LOCKSTEP_", "PMI", "LD_", "OMPI_", "MPI"))}
        # Drivers' libraries may be where the machine's own LD_LIBRARY_PATH says.
        own = [path for path in os.environ.get("LD_LIBRARY_PATH", "").split(":") if path]
        directories = [self.pack / "lib", *self._standard_library, *self.torch["directories"], *own]
        kept["LD_LIBRARY_PATH"] = ":".join(map(str, directories))
        # One node, perhaps without a network.
        kept.update({"UCX_TLS": "self,sm", "NCCL_SOCKET_IFNAME": "lo"})
        return {**kept, **more}

    def start(self, seconds):
        """Sees that the programs start, with the pack's libstdc++ where the machine's is too old.
        Returns the machine's glibc and whose libstdc++ is used; raises Failed where neither will do."""
        here = os.confstr("CS_GNU_LIBC_VERSION").split()[-1]
        if version(here) < version(self.manifest["glibc"]):
            raise Failed(f"glibc {here} is older than {self.manifest['glibc']}, which the pack needs")
        for whose, directories in (("the machine's", []), ("the pack's", [self.pack / "libstdc++"])):
            self._standard_library = directories
            tried = self._run([self.lockstep, "train", "--help"], seconds)
            if tried.returncode == 0:
                self.knows_devices = "--device" in tried.stdout
                return here, whose
        raise Failed(f"the packed lockstep does not start: {tail(tried)}")

    def _run(self, command, seconds, **environment):
        return run(command, seconds, self.environment(**environment))

    def mpiexec(self, ranks, command, seconds, **environment):
        """The result of a program on so many ranks."""
        launcher = [str(self.pack / "bin" / "mpiexec.hydra"), "-launcher", "fork", "-localhost",
                    "127.0.0.1", "-n", str(ranks)]
        return self._run([*launcher, *map(str, command)], seconds, **environment)

    def train(self, *arguments, ranks=0, deadline, **environment):
        """A training that has to succeed, without mpiexec where ranks is 0."""
        command = [self.lockstep, "train", *map(str, arguments)]
        seconds = deadline.require()
        result = (self.mpiexec(ranks, command, seconds, **environment) if ranks
                  else self._run(command, seconds, **environment))
        if result.returncode != 0:
            raise Failed(f"exit code {result.returncode} of lockstep train {' '.join(command[2:])}: "
                         f"{tail(result)}")
        return result

    def program(self, name, *arguments, deadline):
        return self._run([str(self.pack / "bin" / name), *map(str, arguments)], deadline.require())


def tail(result):
    """The last words of a program, errors before the rest."""
    text = result.stderr.strip() or result.stdout.strip()
    return text[-600:]


def run(command, seconds, environment=None, cwd=None):
    """Like subprocess.run, but a time-out ends all of the process group and raises Failed."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env=environment, cwd=cwd,
                               start_new_session=True)
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired as why:
        end(process)
        try:
            out, err = process.communicate(timeout=5)
        except subprocess.TimeoutExpired:  # something that escaped holds its output open
            out, err = "", "(and something it started still runs)"
        raise Failed(f"{os.path.basename(command[0])} was ended after {seconds:.0f} s: "
                     f"{(err.strip() or out.strip())[-300:]}") from why
    except BaseException:  # Ctrl-C, SIGTERM
        end(process)
        raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def end(process):
    """Ends a process and all it has started: mpiexec gives its ranks process groups of their own."""
    for pid in [*descendants(process.pid), process.pid]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def descendants(pid):
    """Process ids below `pid`, the deepest first."""
    found = []
    for children in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            below = children.read_text().split()
        except OSError:
            continue
        for child in map(int, below):
            found += [*descendants(child), child]
    return found


def devices(torch_python, seconds):
    """The names of the GPUs that torch sees; NotPossible where there are none."""
    code = ("import json, torch\nn = torch.cuda.device_count()\n"
            "print(json.dumps([torch.cuda.get_device_name(i) for i in range(n)]))")
    result = run([torch_python, "-c", code], seconds)
    names = json.loads(result.stdout) if result.returncode == 0 else []
    if not names:
        raise NotPossible("no GPU here: torch sees none")
    return names
