# Sourced by demo and test, from the repository's root: a virtual environment with this checkout installed in it.

# Print an interpreter of a supported version.
find_python() {
  local candidate
  for candidate in ${PYTHON:-python3.13 python3.12 python3.11 python3.10 python3}; do
    if "$candidate" -c 'import sys, venv; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  echo "irs_plugin needs Python 3.10 to 3.13 with its venv module; none was found. Name one with PYTHON=…" >&2
  return 1
}

# Install the checkout with the given extras, unless what is installed is newer than every source file.
prepare_environment() {
  VENV=${VENV:-.venv}
  local python stamp="$VENV/installed$1"
  if [ ! -x "$VENV/bin/python" ]; then
    python=$(find_python)
    echo "creating $VENV with $("$python" --version)"
    "$python" -m venv "$VENV"
  fi
  if [ ! -e "$stamp" ] || [ -n "$(find setup.py pyproject.toml irs_plugin configs -newer "$stamp" -type f \
      -not -path '*/__pycache__/*' -print -quit)" ]; then
    echo "installing irs_plugin and what it needs (one to three minutes the first time)"
    rm -rf build # what an earlier version left there would be packed again
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check ".$1"
    touch "$stamp"
  fi
}
