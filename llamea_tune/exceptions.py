"""Errors that llamea-tune shows to people.

Every message is one sentence that says what was wrong, where, and what to do. The command line prints it without a
traceback and exits with code 2.
"""


class LlameaTuneError(Exception):
    """Base class of all errors caused by input or environment rather than by a bug.

    Attributes:
        fields: Names of the settings that the message speaks of, as keyword arguments; the command line shows its
            options instead.
    """

    def __init__(self, message: str = "", *, fields: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.fields = fields


class SpaceFileError(LlameaTuneError):
    """A search-space file is missing, unreadable, or does not hold what it should."""


class SpaceFileWarning(UserWarning):
    """What people should know of a search-space file that is used nevertheless, or left out among others."""


class PriorError(LlameaTuneError):
    """A source of what is known of a space beforehand cannot be used, or is of another kernel."""


class PriorWarning(UserWarning):
    """Why a source of what is known beforehand is left out."""


class SettingsError(LlameaTuneError):
    """A setting is out of range, or settings contradict each other."""


class ClusterWarning(UserWarning):
    """What people should know of a cluster, such as that one of its nodes takes no candidates."""


class RunDirectoryError(LlameaTuneError):
    """A run directory is missing, in the way, in use, or corrupt."""


class StrategyError(LlameaTuneError):
    """A strategy is unknown, or its options are not the ones it takes."""


class CandidateCodeError(LlameaTuneError):
    """A candidate's source is no Python, or breaks the contract; the message is fit to be shown to its author."""


class ProposerError(LlameaTuneError):
    """A proposer cannot work at all, or gives no answer for now: no key, no server, no recorded reply."""


class ClusterError(LlameaTuneError):
    """A cluster cannot be reached, or one of its nodes is not fit to make runs."""


class SandboxError(LlameaTuneError):
    """Candidates cannot be run safely on this machine, or the sandbox could not be started."""


class ExportError(LlameaTuneError):
    """A candidate cannot be exported."""


class MissingDependencyError(LlameaTuneError):
    """An optional package is needed for what was asked."""


class RecordingError(LlameaTuneError):
    """A kernel cannot be measured: no device, no compiler, a kernel that fails everywhere, or a wrong result."""


class FetchError(LlameaTuneError):
    """Something cannot be fetched, or is not what it should be."""


class AdviceError(LlameaTuneError):
    """Advice on a kernel cannot be asked for, used, read or kept."""
