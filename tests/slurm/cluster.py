"""A Slurm cluster of its own on this host, for tests: two nodes, n1 and n2.

    with Cluster() as cluster:
        subprocess.run(["srun", "-N2", "hostname"], env=cluster.environment)

Everything, keys and sockets included, lies in a new temporary directory; ports are free ones, so
several clusters run beside each other and beside the host's own. Needs root, slurmctld, slurmd, the
Slurm commands and munged. To try things by hand: python3 tests/slurm/cluster.py COMMAND...
"""

import ctypes
import os
import pathlib
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time

PR_SET_CHILD_SUBREAPER = 36
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "salloc", "sinfo", "squeue", "scancel")

CONFIGURATION = """\
ClusterName=lockstep-test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={directory}/munge.socket
MpiDefault=pmi2
ProctrackType=proctrack/linuxproc
TaskPlugin={task_plugin}
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1
# The nodes have the cores below whatever the host has.
SlurmdParameters=config_overrides
GresTypes=gpu
ReturnToService=2
KillWait=5
PlugStackConfig={directory}/plugstack.conf
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/%n/slurmd.pid
SlurmdSpoolDir={directory}/%n
StateSaveLocation={directory}/state
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/%n/slurmd.log
{nodes}
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def obstacle():
    """Why no cluster can be started here, or None."""
    if os.geteuid() != 0:
        return "not root, and Slurm's daemons want to be"
    absent = [program for program in PROGRAMS if shutil.which(program, path=search_path()) is None]
    if absent:
        return f"no {', '.join(absent)} on PATH (Debian: slurm-wlm, munge)"
    return None


def search_path():
    return os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"


class Cluster:
    """A running cluster; `environment` is what its commands need.

    `binds`: tasks are bound to their cores, which the host must then have. `gpus`: so many device
    files a node that Slurm takes for GPUs.
    """

    def __init__(self, nodes=("n1", "n2"), cores=4, binds=False, gpus=0, start_seconds=30):
        self.nodes = nodes
        self.cores = cores
        self.binds = binds
        self.gpus = gpus
        self.start_seconds = start_seconds
        self._daemons = []

    def __enter__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-slurm-"))
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("SLURM_", "SBATCH_", "SALLOC_", "SRUN_",
                                                    "LOCKSTEP_"))}
        self.environment.update(SLURM_CONF=str(self.directory / "slurm.conf"), PATH=search_path())
        # Orphans of daemons and job steps become children of this process, so that it can end them.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        try:
            self._configure()
            self._start()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, *_):
        end_descendants()
        for daemon in self._daemons:
            daemon.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _configure(self):
        host = socket.gethostname().split(".")[0]
        controller_port, *node_ports = free_ports(1 + len(self.nodes))
        lines = []
        for node, port in zip(self.nodes, node_ports):
            (self.directory / node).mkdir()
            lines.append(f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} "
                         f"CPUs={self.cores} RealMemory=4000 "
                         + (f"Gres=gpu:{self.gpus}" if self.gpus else ""))
        (self.directory / "slurm.conf").write_text(CONFIGURATION.format(
            host=host, controller_port=controller_port, directory=self.directory,
            task_plugin="task/affinity" if self.binds else "task/none",
            nodes="\n".join(lines)))
        (self.directory / "plugstack.conf").touch()
        self._make_gpus()
        (self.directory / "state").mkdir()
        key = self.directory / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        self.directory.chmod(0o755)  # munged asks that its socket can be reached

    def _make_gpus(self):
        if not self.gpus:
            return
        for gpu in range(self.gpus):  # Slurm wants character devices; these are of /dev/null's kind
            os.mknod(self.directory / f"gpu{gpu}", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        (self.directory / "gres.conf").write_text(
            f"Name=gpu File={self.directory}/gpu[0-{self.gpus - 1}]\n")

    def _start(self):
        here = self.directory
        self._daemon("munged", "--foreground", f"--key-file={here}/munge.key",
                     f"--socket={here}/munge.socket", f"--pid-file={here}/munged.pid",
                     f"--log-file={here}/munged.log", f"--seed-file={here}/munge.seed")
        deadline = time.monotonic() + self.start_seconds
        self._wait(deadline, (here / "munge.socket").exists)
        self._daemon("slurmctld", "-D", "-c")
        for node in self.nodes:
            self._daemon("slurmd", "-D", "-c", "-N", node)
        self._wait(deadline, self._all_idle)

    def _daemon(self, program, *arguments):
        with open(self.directory / "daemons.out", "ab") as output:
            self._daemons.append(subprocess.Popen(
                [program, *arguments], env=self.environment, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=output, stderr=output))

    def _all_idle(self):
        answer = subprocess.run(["sinfo", "--noheader", "--Node", "--format=%t"], text=True,
                                env=self.environment, capture_output=True, timeout=10, check=False)
        return answer.stdout.split() == ["idle"] * len(self.nodes)

    def _wait(self, deadline, condition):
        while not condition():
            if time.monotonic() > deadline:
                logs = "\n".join(path.read_text(errors="replace")[-2000:]
                                 for pattern in ("*.log", "*.out", "*/*.log")
                                 for path in sorted(self.directory.glob(pattern)))
                raise TimeoutError(f"the cluster did not start in {self.start_seconds} s:\n{logs}")
            time.sleep(0.05)


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]  # held together, so that they differ
    try:
        for one in sockets:
            one.bind(("", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def end_descendants():
    """Kills every process below this one, and those that come to it as their parents die."""
    while True:
        below = descendants(os.getpid())
        for process in below:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def descendants(ancestor):
    children = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        children.setdefault(int(fields[1]), []).append(int(entry.name))
    found, waiting = [], [ancestor]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


if __name__ == "__main__":
    if obstacle():
        sys.exit(f"cluster.py: {obstacle()}")
    with Cluster() as running:
        sys.exit(subprocess.run(sys.argv[1:] or ["bash"], env=running.environment,
                                check=False).returncode)
