"""New processes and programs, threads, and other processes."""

from __future__ import annotations

from adversaries.adversary import FAILED, KILLED, Adversary, foiled, killed

FILTER = "seccomp filter"
LIMITS = "resource limits"
EITHER = f"{FILTER} and {LIMITS}"

ADVERSARIES = (
    foiled("fork", "forks", EITHER, "forbidden(os.fork)"),
    foiled(
        "fork-bomb",
        "forks as fast as it can, also in its children, and ignores errors",
        EITHER,
        """
        for _ in range(2000):
            try:
                os.fork()
            except OSError:
                continue
            raise Escaped("forked")
        """,
    ),
    foiled(
        "clone-by-number",
        "makes processes and threads by system call number",
        EITHER,
        """
        import platform
        clone = {"x86_64": 56, "aarch64": 220}[platform.machine()]
        for flags in (17, 0x4000 | 0x100 | 17, 0x10000000 | 17, 0x20000000 | 17):
            forbidden_call(clone, flags, 0, 0, 0, 0)
        forbidden_call(435, 0, 0)
        """,
    ),
    foiled(
        "subprocess",
        "starts programs with subprocess, os.system, os.popen and posix_spawn",
        EITHER,
        """
        import subprocess
        forbidden(subprocess.run, ["/bin/true"])
        forbidden(os.popen, "true")
        forbidden(os.posix_spawn, "/bin/true", ["true"], {})
        if os.system("true") == 0:
            raise Escaped("os.system")
        """,
    ),
    foiled(
        "multiprocessing",
        "starts a process and a pool with multiprocessing",
        EITHER,
        """
        import multiprocessing
        for method in ("fork", "spawn"):
            forbidden(lambda: multiprocessing.get_context(method).Process(target=print).start())
        """,
    ),
    foiled(
        "threads",
        "starts a thread, then as many as it can",
        EITHER,
        """
        import threading
        for _ in range(200):
            forbidden(lambda: threading.Thread(target=print).start())
        """,
    ),
    killed("exec", "replaces itself with a shell", FILTER, 'os.execv("/bin/sh", ["sh", "-c", "true"])', "SIGSYS"),
    killed(
        "exec-from-memory",
        "executes through a descriptor",
        FILTER,
        """
        import numpy
        os.execve(os.open(numpy.__file__, os.O_RDONLY), ["x"], {})
        """,
        "SIGSYS",
    ),
    foiled(
        "kill-parent",
        "sends every signal to its parent, to process 1 and to all it may",
        FILTER,
        """
        for pid in (os.getppid(), 1, -1):
            for number in (2, 9, 15, 19):
                forbidden(os.kill, pid, number)
        """,
    ),
    foiled(
        "kill-group",
        "signals its own process group and itself",
        FILTER,
        """
        forbidden(os.kill, 0, 9)
        forbidden(os.killpg, os.getpgrp(), 9)
        forbidden(os.kill, os.getpid(), 9)
        """,
    ),
    foiled(
        "signal-by-number",
        "sends signals with tgkill, tkill, rt_sigqueueinfo and the owner of a descriptor",
        FILTER,
        """
        import fcntl, platform
        numbers = {"x86_64": (234, 200, 129), "aarch64": (131, 130, 138)}[platform.machine()]
        parent = os.getppid()
        forbidden_call(numbers[0], parent, parent, 9)
        forbidden_call(numbers[1], parent, 9)
        forbidden_call(numbers[2], parent, 9, 0)
        forbidden(fcntl.fcntl, 3, fcntl.F_SETOWN, parent)
        """,
    ),
    killed("pidfd", "opens its parent as a descriptor, to signal it", FILTER, "os.pidfd_open(os.getppid())", "SIGSYS"),
    foiled(
        "leave-the-group",
        "makes a session and a process group of its own",
        FILTER,
        """
        forbidden(os.setsid)
        forbidden(os.setpgid, 0, 0)
        """,
    ),
    killed("become-root", "changes to user 0", FILTER, "os.setuid(0)", "SIGSYS"),
    Adversary(
        "exit-at-once",
        "leaves by os._exit, as if all were well",
        "the host's protocol",
        KILLED,
        "honest(func, searchspace); os._exit(0)",
        reason="exited by itself with status 0",
    ),
    Adversary("exit-politely", "raises SystemExit", "its error is a state", FAILED, "sys.exit(0)", reason="SystemExit"),
    Adversary("abort", "aborts", "a process of its own", KILLED, "os.abort()", reason="SIGABRT"),
    Adversary(
        "crash",
        "reads address 0",
        "a process of its own",
        KILLED,
        "import ctypes; ctypes.string_at(0)",
        reason="SIGSEGV",
    ),
)
