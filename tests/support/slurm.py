"""Runs a real Slurm on this host: munged, slurmctld and slurmd with their own ports, keys and folders, which are
removed after the tests."""

import getpass
import json
import os
import pathlib
import shutil
import socket
import subprocess
import time

from ringmaster_runs import events_of
from sshd import free_port

ONE_THREAD = {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
SBIN = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
PROGRAMS = {name: shutil.which(name, path=SBIN) for name in ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol")}


class Slurm:
    """Runs a cluster of one node that pretends to have 8 CPUs, so that several small jobs run at once."""

    def __init__(self, folder):
        missing = [name for name, path in PROGRAMS.items() if path is None]
        assert not missing, f"{', '.join(missing)} not installed: packaging/setup --tests"
        self.folder = pathlib.Path(folder)
        for name in ("state", "spool", "log"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o755)
        self.conf = self.folder / "slurm.conf"
        self.daemons = []
        self.configure()

    def configure(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        host, user, here = socket.gethostname().split(".")[0], getpass.getuser(), self.folder
        self.conf.write_text(f"""ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={here}/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={here}/state
SlurmdSpoolDir={here}/spool
SlurmctldPidFile={here}/slurmctld.pid
SlurmdPidFile={here}/slurmd.pid
SlurmctldLogFile={here}/log/slurmctld.log
SlurmdLogFile={here}/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=2,batch_sched_delay=0
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
KillWait=5
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 Boards=1 Sockets=8 CoresPerSocket=1 ThreadsPerCore=1 RealMemory=1000
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=main Nodes={host} Default=YES MaxTime=60 State=UP PriorityTier=2 PreemptMode=OFF
PartitionName=low Nodes={host} MaxTime=60 State=UP PriorityTier=1 PreemptMode=REQUEUE
PartitionName=patient Nodes={host} MaxTime=60 State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=30
PartitionName=cheap Nodes={host} MaxTime=60 State=UP PriorityTier=1 PreemptMode=CANCEL
PartitionName=urgent Nodes={host} MaxTime=60 State=UP PriorityTier=9 PreemptMode=OFF
""")

    def start(self):
        self.start_controller()
        self.begin("slurmd", "-D")
        self.wait_for(lambda: " idle" in self.say("sinfo", "--noheader", check=False).stdout, "an idle node")

    def start_controller(self):
        here = self.folder
        self.begin("munged", "--foreground", "--force", f"--key-file={here}/munge.key", f"--socket={here}/munge.socket",
                   f"--pid-file={here}/munged.pid", f"--log-file={here}/log/munged.log", f"--seed-file={here}/munge.seed")
        self.wait_for(lambda: (here / "munge.socket").exists(), "munged")
        self.begin("slurmctld", "-D", "-c")

    def begin(self, name, *arguments, inside=()):
        with open(self.folder / f"log/{name}.out", "ab") as out:
            self.daemons.append(subprocess.Popen([*inside, PROGRAMS[name], *arguments], env=self.env(), stdin=subprocess.DEVNULL, stdout=out,
                                                 stderr=out, start_new_session=True))

    def env(self, **more):
        return {**os.environ, "SLURM_CONF": str(self.conf), **more}

    def say(self, *command, check=True):
        done = subprocess.run(list(map(str, command)), env=self.env(), capture_output=True, text=True, timeout=60)
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    def wait_for(self, condition, what, seconds=20):
        end = time.monotonic() + seconds
        while not condition():
            logs = "".join(file.read_text(errors="replace")[-2000:] for file in (self.folder / "log").iterdir())
            assert time.monotonic() < end, f"waited {seconds} s for {what}\n{logs}"
            time.sleep(0.1)

    def state_of(self, job):
        return self.say("squeue", "--noheader", "--states=all", f"--jobs={job}", "--format=%T", check=False).stdout.strip()

    def stop(self):
        """Ends the jobs first, because their slurmstepd would outlive slurmd."""
        self.say("scancel", f"--user={getpass.getuser()}", "--signal=KILL", "--full", check=False)
        self.say("scancel", f"--user={getpass.getuser()}", check=False)
        try:
            self.wait_for(lambda: not self.say("squeue", "--noheader", check=False).stdout.strip(), "the last job's end")
        finally:
            for daemon in reversed(self.daemons):
                daemon.terminate()
            for daemon in self.daemons:
                try:
                    daemon.wait(10)
                except subprocess.TimeoutExpired:
                    daemon.kill()
                    daemon.wait()


class SlurmOnNodes(Slurm):
    """Runs a cluster whose nodes n1, n2, … are network namespaces with their own addresses. The controller runs on the
    host, at the address `controller`. As in a fresh Debian, a node's /etc/hosts maps its name to 127.0.1.1."""

    def __init__(self, folder, controller, nodes):
        self.controller, self.nodes = controller, nodes  # nodes: (namespace, address)
        super().__init__(folder)

    def configure(self):
        super().configure()
        host = socket.gethostname().split(".")[0]
        kept = [line for line in self.conf.read_text().splitlines() if not line.startswith(("NodeName=", "PartitionName="))]
        text = "\n".join(kept).replace(f"SlurmctldHost={host}(127.0.0.1)", f"SlurmctldHost={host}({self.controller})")
        text = text.replace("/spool\n", "/spool-%n\n").replace("/slurmd.pid", "/slurmd-%n.pid").replace("/slurmd.log", "/slurmd-%n.log")
        for i, (_, address) in enumerate(self.nodes):
            text += f"\nNodeName=n{i + 1} NodeAddr={address} CPUs=4 Boards=1 Sockets=4 CoresPerSocket=1 ThreadsPerCore=1 RealMemory=1000"
        self.conf.write_text(text + f"\nPartitionName=main Nodes=n[1-{len(self.nodes)}] Default=YES MaxTime=60 State=UP\n")

    def start(self):
        self.start_controller()
        for i, (space, _) in enumerate(self.nodes):
            names = [("127.0.1.1" if i == j else address) + f" n{j + 1}" for j, (_, address) in enumerate(self.nodes)]
            hosts = self.folder / f"hosts-{i + 1}"
            hosts.write_text("\n".join(["127.0.0.1 localhost", f"{self.controller} {socket.gethostname()}", *names]) + "\n")
            (self.folder / f"spool-n{i + 1}").mkdir()
            # `ip netns exec` would mount another /sys, without the cgroups that slurmd needs.
            self.begin("slurmd", "-D", inside=["nsenter", f"--net=/run/netns/{space}", "unshare", "--mount", "--uts", "sh", "-c",
                                               f'mount --bind {hosts} /etc/hosts && hostname n{i + 1} && exec "$@"', "sh"])
        idle = lambda: self.say("sinfo", "--noheader", "--format=%T %D", check=False).stdout.split()
        self.wait_for(lambda: idle() == ["idle", str(len(self.nodes))], "idle nodes", 40)


def job_of(run):
    return json.loads((run / "slurm.json").read_text())["job"]


def steps(run):
    try:
        return [event["step"] for event in events_of(run)]
    except FileNotFoundError:
        return []
