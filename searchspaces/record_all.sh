#!/bin/sh
# Record all kernels of this folder: searchspaces/record_all.sh OUT gpu|cpu [options of llamea-tune spaces record]
#
# Kernels are shared out among the GPUs, each measured by a process of its own; a CPU's are measured one after the other.
# The same command resumes what a time limit or a crash has left. Exit code: the highest of the processes'.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
out=$1 kind=$2
shift 2
export PYTHONPATH="$here/..${PYTHONPATH:+:$PYTHONPATH}"
python=${PYTHON:-python3}

kernels() {
    for folder in "$here"/*/; do
        description=$folder$(basename "$folder").json
        if grep -q '"Backend": "C"' "$description"; then echo "cpu $folder"; else echo "gpu $folder"; fi
    done | sed -n "s/^$kind //p"
}

case $kind in
cpu)
    # one word a kernel: folders of this repository have no spaces in their names
    # shellcheck disable=SC2046
    exec "$python" -m llamea_tune spaces record $(kernels) --out "$out" "$@"
    ;;
gpu)
    gpus=$(nvidia-smi --list-gpus | wc -l)
    [ "$gpus" -gt 0 ] || { echo "nvidia-smi lists no GPU on this machine; run this where there is one" >&2; exit 2; }
    compilers=$(($(nproc) / gpus - 2))
    [ "$compilers" -gt 0 ] || compilers=1
    processes=""
    device=0
    while [ "$device" -lt "$gpus" ]; do
        # shellcheck disable=SC2046
        "$python" -m llamea_tune spaces record $(kernels | awk "NR % $gpus == $device") --out "$out" \
            --device "$device" --compilers "$compilers" "$@" &
        processes="$processes $!"
        device=$((device + 1))
    done
    worst=0
    for process in $processes; do
        wait "$process" || { code=$?; [ "$code" -le "$worst" ] || worst=$code; }
    done
    exit "$worst"
    ;;
*)
    echo "$kind is neither gpu nor cpu; write searchspaces/record_all.sh OUT gpu" >&2
    exit 2
    ;;
esac
