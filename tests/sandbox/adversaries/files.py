"""Reading and writing files, and the environment."""

from __future__ import annotations

from adversaries.adversary import foiled

LANDLOCK = "Landlock"
FILTER = "seccomp filter"

ADVERSARIES = (
    foiled(
        "read-secret-file",
        "opens a file that everybody may read, for a key in it",
        LANDLOCK,
        "forbidden(lambda: open(SECRET_FILE).read())",
    ),
    foiled(
        "read-system-files",
        "opens /etc/passwd, /etc/shadow, /etc/hostname and keys below the home folder",
        LANDLOCK,
        """
        for path in ("/etc/passwd", "/etc/shadow", "/etc/hostname", "~/.ssh/id_rsa", "~/.netrc", "/root/.bashrc"):
            forbidden(lambda: open(os.path.expanduser(path)).read())
        """,
    ),
    foiled(
        "read-recorded-spaces",
        "looks for recorded search spaces in the installed package",
        LANDLOCK,
        """
        import glob
        package = os.path.dirname(sys.modules["llamea_tune"].__file__)
        for folder in (package, os.path.dirname(package), os.getcwd(), os.path.join(package, "_bundled")):
            forbidden(os.listdir, folder)
            if glob.glob(os.path.join(folder, "**", "*.json*"), recursive=True):
                raise Escaped(folder)
        forbidden(lambda: open(os.path.join(package, "__init__.py")).read())
        """,
    ),
    foiled(
        "read-environment",
        "looks for keys in the environment variables",
        "clean environment",
        """
        known = {"HOME", "LANG", "PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                 "MKL_NUM_THREADS", "JOBLIB_MULTIPROCESSING", "LC_CTYPE", "KMP_INIT_AT_FORK", "KMP_DUPLICATE_LIB_OK"}
        extra = set(os.environ) - known
        if extra:
            raise Escaped(extra)
        """,
    ),
    foiled(
        "read-proc",
        "reads the environment, memory and open files of itself and its parents in /proc",
        LANDLOCK,
        """
        for pid in ("self", "1", str(os.getppid())):
            for name in ("environ", "mem", "cmdline", "status", "fd/0"):
                forbidden(lambda: open(f"/proc/{pid}/{name}", "rb").read(64))
        forbidden(os.listdir, "/proc")
        forbidden(os.listdir, "/proc/self/fd")
        """,
    ),
    foiled(
        "list-folders",
        "lists the root folder, temporary files and home folders",
        LANDLOCK,
        """
        for folder in ("/", "/tmp", "/home", "/root", os.path.dirname(SECRET_FILE)):
            forbidden(os.listdir, folder)
            forbidden(os.scandir, folder)
        """,
    ),
    foiled(
        "climb-out-of-package",
        "opens a readable folder and climbs to the secret from it",
        LANDLOCK,
        """
        import numpy
        folder = os.open(os.path.dirname(numpy.__file__), os.O_RDONLY)
        up = "../" * 20
        forbidden(lambda: os.open(up + SECRET_FILE.lstrip("/"), os.O_RDONLY, dir_fd=folder))
        forbidden(lambda: os.open("..", os.O_RDONLY, dir_fd=folder))
        """,
    ),
    foiled(
        "write-files",
        "creates files in all the usual places, in all the ways there are",
        f"{LANDLOCK} and {FILTER}",
        """
        import tempfile
        folder = os.path.dirname(SECRET_FILE)
        for place in ("/tmp", "/var/tmp", "/dev/shm", "/run", ".", folder):
            path = os.path.join(place, "adversary-was-here")
            forbidden(lambda: open(path, "w"))
            forbidden(lambda: open(path, "ab"))
            forbidden(lambda: os.open(path, os.O_CREAT | os.O_RDONLY))
            forbidden(lambda: os.open(place, os.O_TMPFILE | os.O_RDWR))
        forbidden(tempfile.TemporaryFile)
        """,
    ),
    foiled(
        "overwrite-files",
        "overwrites, truncates and appends to the secret and to installed packages",
        f"{LANDLOCK} and {FILTER}",
        """
        import kernel_tuner, numpy
        for path in (SECRET_FILE, kernel_tuner.__file__, numpy.__file__, os.__file__):
            for flags in (os.O_WRONLY, os.O_RDWR, os.O_TRUNC, os.O_WRONLY | os.O_APPEND):
                forbidden(os.open, path, flags)
            forbidden(os.truncate, path, 0)
        """,
    ),
    foiled(
        "change-folders",
        "links, renames, removes, makes folders and pipes, changes modes, owners and times",
        FILTER,
        """
        folder = os.path.dirname(SECRET_FILE)
        new = os.path.join(folder, "new")
        forbidden(os.symlink, SECRET_FILE, new)
        forbidden(os.link, SECRET_FILE, new)
        forbidden(os.rename, SECRET_FILE, new)
        forbidden(os.unlink, SECRET_FILE)
        forbidden(os.mkdir, new)
        forbidden(os.rmdir, folder)
        forbidden(os.mkfifo, new)
        forbidden(os.mknod, new)
        forbidden(os.chmod, SECRET_FILE, 0o777)
        forbidden(os.chown, SECRET_FILE, os.getuid(), os.getgid())
        forbidden(os.utime, SECRET_FILE)
        forbidden(os.setxattr, SECRET_FILE, "user.a", b"b")
        forbidden(os.chdir, folder)
        """,
    ),
    foiled(
        "shared-memory",
        "makes POSIX and System V shared memory, message queues and anonymous files, to leave a note for the next run",
        f"{LANDLOCK} and {FILTER}",
        """
        from multiprocessing import shared_memory
        forbidden(lambda: shared_memory.SharedMemory(name="note", create=True, size=4096))
        forbidden(lambda: shared_memory.SharedMemory(name="note"))
        forbidden(os.memfd_create, "note")
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        for make in (lambda: libc.shmget(7, 4096, 0o1666), lambda: libc.msgget(7, 0o1666), lambda: libc.semget(7, 1, 0o1666)):
            if make() != -1:
                raise Escaped("System V")
        """,
    ),
)
