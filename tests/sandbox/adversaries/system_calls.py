"""System calls that reach past Python, by number."""

from __future__ import annotations

from adversaries.adversary import Adversary, foiled, killed
from llamea_tune.sandbox.syscalls import HOSTILE

FILTER = "seccomp filter"

_BY_NUMBER = {
    "ptrace": "attaches to its parent as a debugger",
    "process_vm_readv": "reads its parent's memory",
    "process_vm_writev": "writes to its parent's memory",
    "mount": "mounts a file system",
    "unshare": "makes a user namespace to gain rights in",
    "setns": "enters another namespace",
    "bpf": "loads a kernel program",
    "perf_event_open": "watches the machine's counters, a timing side channel",
    "io_uring_setup": "asks for input and output past the filter",
    "userfaultfd": "handles page faults itself, a tool of kernel exploits",
    "keyctl": "reads the kernel's key rings",
    "open_by_handle_at": "opens a file by its handle, past folders",
    "init_module": "loads a kernel module",
}


def _by_number(name: str, behaviour: str) -> Adversary:
    x86, arm = HOSTILE[name]
    body = f"""
    import ctypes, platform
    number = {{"x86_64": {x86}, "aarch64": {arm}}}[platform.machine()]
    ctypes.CDLL(None).syscall(ctypes.c_long(number), 16, os.getppid(), 0, 0, 0, 0)
    """
    return killed(name.replace("_", "-"), behaviour, FILTER, body, "SIGSYS: a forbidden system call")


ADVERSARIES = (
    *(_by_number(name, behaviour) for name, behaviour in _BY_NUMBER.items()),
    killed(
        "x32-call",
        "makes a call through the x32 interface, which has numbers of its own",
        FILTER,
        """
        import ctypes
        ctypes.CDLL(None).syscall(ctypes.c_long(0x40000000 | 39))
        """,
        "SIGSYS",
        machine="x86_64",
    ),
    killed(
        "32-bit-call",
        "makes a call through the 32-bit interface from machine code of its own",
        FILTER,
        r"""
        import ctypes, mmap
        code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, 20 (getpid); int 0x80; ret
        address = ctypes.addressof(ctypes.c_char.from_buffer(code))
        ctypes.CFUNCTYPE(ctypes.c_int)(address)()
        """,
        "SIGSYS",
        machine="x86_64",
    ),
    killed(
        "move-the-clock",
        "sets the machine's clock",
        FILTER,
        "import time; time.clock_settime(time.CLOCK_REALTIME, 0)",
        "SIGSYS",
    ),
    foiled(
        "raise-limits",
        "raises its limits, and changes those of its parent",
        FILTER,
        """
        import resource
        for name in ("AS", "CPU", "FSIZE", "NPROC", "NOFILE"):
            forbidden(resource.setrlimit, getattr(resource, "RLIMIT_" + name), (2**40, 2**40))
        forbidden(resource.prlimit, os.getppid(), resource.RLIMIT_CPU, (1, 1))
        """,
    ),
    foiled(
        "undo-the-walls",
        "switches the filter, the dump protection and its own death sentence off",
        FILTER,
        """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        for option, value in ((22, 0), (4, 1), (38, 0), (1, 0), (24, 0), (8, 1)):
            if libc.prctl(option, value, 0, 0, 0) != -1:
                raise Escaped(option)
        forbidden_call(446, -1, 0)
        """,
    ),
    foiled(
        "take-the-processor",
        "raises its priority and chooses its processors",
        FILTER,
        """
        forbidden(os.nice, -20)
        forbidden(os.setpriority, os.PRIO_PROCESS, 0, -20)
        forbidden(os.sched_setaffinity, 0, {0})
        forbidden(os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(1))
        """,
    ),
)
