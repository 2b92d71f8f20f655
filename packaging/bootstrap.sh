#!/bin/sh
# Prepares a checkout: system libraries, a virtual environment, Python packages, models.
#
# Usage: packaging/bootstrap.sh run|test
#
# A second call sees that nothing has changed and returns at once. What pip and apt say is in
# build/bootstrap.log.
set -eu

purpose=${1:-run}
case $purpose in
    run) extras=realtime,piper ;;
    test) extras=realtime,piper,nemo,dev ;;
    *) echo "usage: $0 run|test" >&2; exit 2 ;;
esac

cd "$(dirname "$0")/.."
venv=.venv
log=build/bootstrap.log

say() { printf '%s\n' "setup: $*" >&2; }

# fail WHAT ADVICE: the end of the log, what went wrong, what to do.
fail() {
    if [ -s "$log" ]; then tail -n 15 "$log" >&2; fi
    say "$1"
    say "$2"
    exit 1
}

# What must be the same for nothing to be done: the place (a virtual environment cannot be moved),
# what is wanted, and the home that the models were fetched for.
state() {
    printf '%s\n' "$PWD" "${HOME:-}" "${VIVAVOCE_HOME:-}" "${XDG_DATA_HOME:-}" \
        "${VIVAVOCE_MODELS_DIR:-}"
    cksum pyproject.toml packaging/constraints.txt packaging/bootstrap.sh resources/models.toml
}

# What suits the tests suits the program.
for done_for in "$purpose" test; do
    stamp=$venv/.vivavoce-$done_for
    if [ -x $venv/bin/vivavoce ] && [ -f "$stamp" ] && [ "$(state)" = "$(cat "$stamp")" ]; then
        exit 0
    fi
done

mkdir -p build
: > "$log"

python=${PYTHON:-python3}
command -v "$python" > /dev/null || fail "There is no $python." "Install Python 3.11 or newer."
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "$("$python" --version) is too old." \
        "Install Python 3.11 or newer, and run: make $purpose PYTHON=python3.11"

# --- system packages -----------------------------------------------------------------------------

libraries=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2> /dev/null || true)
wanted=""

# need_library SONAME PACKAGE: wants the package unless the dynamic linker knows the library.
need_library() {
    case $libraries in
        *"	$1 "*) ;;
        *) wanted="$wanted $2" ;;
    esac
}
need_program() { command -v "$1" > /dev/null || wanted="$wanted $2"; }
# need_file PATTERN PACKAGE: wants the package unless a file matches.
need_file() {
    for file in $1; do
        if [ -e "$file" ]; then return 0; fi
    done
    wanted="$wanted $2"
}

if [ "$(uname -s)" = Linux ]; then
    "$python" -c 'import ensurepip, venv' 2> /dev/null || wanted="$wanted python3-venv"
    need_library libportaudio.so.2 libportaudio2
    need_file '/usr/lib/*/alsa-lib/libasound_module_pcm_pulse.so' libasound2-plugins
    need_library libEGL.so.1 libegl1
    need_library libGL.so.1 libgl1
    need_library libglib-2.0.so.0 libglib2.0-0
    need_library libdbus-1.so.3 libdbus-1-3
    need_library libfontconfig.so.1 libfontconfig1
    need_library libwayland-cursor.so.0 libwayland-cursor0
    need_library libwayland-egl.so.1 libwayland-egl1
    need_library libX11-xcb.so.1 libx11-xcb1
    need_library libxkbcommon-x11.so.0 libxkbcommon-x11-0
    need_library libxcb-cursor.so.0 libxcb-cursor0
    need_library libxcb-icccm.so.4 libxcb-icccm4
    need_library libxcb-image.so.0 libxcb-image0
    need_library libxcb-keysyms.so.1 libxcb-keysyms1
    need_library libxcb-randr.so.0 libxcb-randr0
    need_library libxcb-render-util.so.0 libxcb-render-util0
    need_library libxcb-shape.so.0 libxcb-shape0
    need_library libxcb-xkb.so.1 libxcb-xkb1
    need_file '/usr/share/fonts/truetype/*' fonts-dejavu-core
    if [ "$purpose" = test ]; then
        need_program pulseaudio pulseaudio
        need_program paplay pulseaudio-utils
        need_program Xvfb xvfb
        need_program espeak-ng espeak-ng
        need_program flite flite
        need_file '/usr/share/pocketsphinx/test*' pocketsphinx-testdata
    fi
fi

if [ -n "$wanted" ] && ! command -v apt-get > /dev/null; then
    say "This is no Debian: see yourself that you have what Debian calls$wanted."
elif [ -n "$wanted" ]; then
    as_root=""
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo > /dev/null ||
            fail "These system packages are missing:$wanted." \
                "Ask an administrator to run: apt-get install$wanted"
        as_root=sudo
    fi
    say "Installing system packages${as_root:+ with sudo}:$wanted"
    # The lists may be old or, in containers, empty.
    $as_root apt-get update >> "$log" 2>&1 || say "The package lists could not be renewed."
    # shellcheck disable=SC2086
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends $wanted >> "$log" 2>&1 ||
        fail "apt-get could not install:$wanted." \
            "Check the network and the disk, or install them yourself; the log is $log."
fi

# --- Python packages -----------------------------------------------------------------------------

if ! "$venv/bin/python" -c 'import pip' 2> /dev/null; then
    say "Making $venv with $("$python" --version)"
    "$python" -m venv --clear "$venv" >> "$log" 2>&1 ||
        fail "The virtual environment could not be made." "Check the disk; the log is $log."
fi

free_kb=$(df -Pk . | awk 'NR == 2 { print $4 }')
if [ "${free_kb:-9999999}" -lt 3000000 ]; then
    say "Only $((free_kb / 1000)) MB are free here; the packages need about 3 GB."
fi

say "Installing Python packages (some minutes the first time; progress is in $log)"
"$venv/bin/python" -m pip install --disable-pip-version-check --no-input \
    --constraint packaging/constraints.txt --editable ".[$extras]" >> "$log" 2>&1 ||
    fail "pip could not install the packages." \
        "Check the network, pip's settings (pip config list) and the disk; the log is $log."

# --- models --------------------------------------------------------------------------------------

say "Fetching the models (about 160 MB the first time)"
"$venv/bin/python" -m engine.cli models pull >> "$log" ||
    fail "The models could not be fetched." \
        "Check the network and run it again, or see: $venv/bin/vivavoce doctor"

state > "$venv/.vivavoce-$purpose"
say "Done."
