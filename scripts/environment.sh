# Sourced by the other scripts: a virtual environment with this package, made once and brought up to date when needed.
#
# PYTHON chooses the interpreter (3.10 to 3.13); without it the newest suitable one on the PATH is taken.

suitable() {
  "$1" -c 'import sys, venv, ensurepip; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' > /dev/null 2>&1
}

find_python() {
  local candidate
  for candidate in ${PYTHON:-python3.13 python3.12 python3.11 python3.10 python3 python "$HOME"/.pyenv/versions/3.1[0-3].*/bin/python}; do
    if suitable "$candidate"; then
      echo "$candidate"
      return
    fi
  done
  echo "No Python 3.10 to 3.13 with venv found${PYTHON:+ at $PYTHON}: install one, or name it by PYTHON=/path/to/python." >&2
  return 1
}

# enter_environment FOLDER REQUIREMENT: activate the environment in FOLDER; install unless the sources are as they were.
enter_environment() {
  local folder=$1 requirement=$2 stamp=$1/installed.txt sources python
  sources=$(cd "$ROOT" && find irs_plugin configs setup.py pyproject.toml -type f ! -name '*.pyc' -exec cksum {} + | sort -k 3 | cksum)
  if [ ! -x "$folder/bin/pip" ]; then
    python=$(find_python)
    echo "== virtual environment in $folder with $("$python" --version)"
    rm -rf "$folder"
    "$python" -m venv "$folder"
  fi
  # shellcheck disable=SC1091
  . "$folder/bin/activate"
  if [ "$(cat "$stamp" 2> /dev/null)" != "$requirement $sources" ]; then
    echo "== installing (TensorFlow is large; a minute or two)"
    rm -f "$stamp"
    # A wheel is built in build/, where files that are no longer in the sources would linger.
    rm -rf "$ROOT/build"
    pip install --quiet --disable-pip-version-check "$ROOT$requirement"
    echo "$requirement $sources" > "$stamp"
  fi
}
