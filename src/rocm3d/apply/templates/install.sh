#!/usr/bin/env bash
# Installs the requirements of {{ name | line }} on {{ gpu.title | line }} ({{ gpu.gfx }}). Never replaces the installed torch.
# Made by rocm3d; `rocm3d apply` overwrites it.
#
#   bash install.sh             install; after a failure run it again
#   bash install.sh --unlocked  install also what lock.json lists as not locked, as it is today
#   bash install.sh --dry-run   print the commands, run nothing
#
# ROCM3D_ALLOW_UNLOCKED=1 is the same as --unlocked.
# PYTHON is the interpreter to install into (default: python3, else python).
#
# Texts from the plan are in single quotes and may contain dollar signs.
# shellcheck disable=SC1003,SC2016
set -euo pipefail

fail() {
  printf 'install.sh: %s\n' "$@" >&2
  exit 1
}

dry_run=no
allowed=no
[ "${ROCM3D_ALLOW_UNLOCKED:-}" != 1 ] || allowed=yes
for argument in "$@"; do
  case "$argument" in
    --dry-run) dry_run=yes ;;
    --unlocked) allowed=yes ;;
    -h | --help)
      sed -n '2,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *)
      printf 'install.sh: unknown argument %s; the options are --unlocked and --dry-run\n' "$argument" >&2
      exit 2
      ;;
  esac
done

{% if unlocked %}
if [ "$dry_run$allowed" = nono ]; then
  fail {{ (unlocked | length ~ " not locked: " ~ unlocked_names) | shell }} \
    {{ ("lock what an index has: rocm3d plan . --gpu " ~ gpu.product ~ " --lock && rocm3d apply .") | shell }} \
    "install them as they are today: bash install.sh --unlocked" "each with its reason: lock.json"
fi

{% endif %}
PYTHON="${PYTHON:-$(command -v python3 || command -v python || true)}"
PYTHON="$(command -v -- "${PYTHON:-python3}" || true)"
[ -n "$PYTHON" ] || fail "no Python found: set PYTHON=path/to/python"
case "$PYTHON" in
  /*) ;;
  *) PYTHON="$PWD/$PYTHON" ;;
esac
port="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)"
root="$(cd -- "$port"/{{ up }} && pwd -P)"
cd -- "$root"
# Set even if no GPU is visible, as in an image build: torch would compile for none.
export PYTORCH_ROCM_ARCH={{ gpu.gfx | shell }}
# shellcheck source=/dev/null
. "$port/environment.sh"

# Clones, the log and the constraints in use go to the repository's .rocm3d, which git ignores.
work="$root/.rocm3d/install"
if [ "$dry_run" = no ]; then
  if ! mkdir -p -- "$work" 2>/dev/null; then
    work="${TMPDIR:-/tmp}/rocm3d-$(id -u)"/{{ name | slug }}
    (umask 077 && mkdir -p -- "$work")
    [ -O "$work" ] || fail "$work belongs to another user"
  elif [ ! -e "$root/.rocm3d/.gitignore" ]; then
    printf '*\n' >"$root/.rocm3d/.gitignore"
  fi
  mkdir -p -- "$work/build"
  : >"$work/install.log"
  : >"$work/commits.txt"
fi
build="$work/build"
log="$work/install.log"
constraints="$work/constraints.txt"
constraints_address=""
before=""
step="the base"
first_line=1

# Reads package metadata. Runs in /, because files of the repository could be imported as modules.
ask() {
  (cd / && "$PYTHON" "$port/scripts.d/base_state.py" "$@")
}

begin() {
  step="step $1 of {{ steps | length }} ($2)"
  printf '== %s\n' "$step"
  [ "$dry_run" = yes ] || first_line="$(($(wc -l <"$log") + 1))"
}

# Ends with the name of the step, and what it changed or which package required another torch.
broken() {
  local asked changed=""
  [ -z "$before" ] || changed="$(ask changes "$before")"
  if [ -n "$changed" ]; then
    fail "$step changed a protected package: ${changed//$'\n'/; }" "to recover: "{{ back | shell }} "log: $log"
  fi
  asked="$(tail -n "+$first_line" "$log" | grep -E '(depends on|satisfies the requirement|\(constraint\)) (torch|torchvision|torchaudio|triton)\b' | sed 's/^ *//' | sort -u | head -n 3 || true)"
  fail "$step failed; torch, torchvision, torchaudio and triton are unchanged" ${asked:+"$asked"} "log: $log"
}

# unlocked NAME...: what the step takes as it is today.
unlocked() {
  printf '   not locked: %s\n' "$*"
  [ "$dry_run" = yes ] || [ "$allowed" = yes ] || fail "$step: not locked: $*" "to install it all the same: bash install.sh --unlocked"
}

check() {
  [ "$dry_run" = yes ] || [ -z "$(ask changes "$before")" ] || broken
}

run() {
  if [ "$dry_run" = yes ]; then
    printf '  %s\n' "$(printf '%q ' "$@")"
  else
    "$@" 2>&1 | tee -a "$log" || broken
  fi
}

# pip with the base as constraint. Isolated builds get the same constraint: one that requires torch fails instead of
# being compiled for another torch.
pip_install() {
  local argument index=no shared=no
  local -a settings=()
  for argument in "$@"; do
    case "$argument" in
      --no-build-isolation) shared=yes ;;
      --index-url | --index-url=* | -i | --no-index) index=yes ;;
    esac
  done
  if [ "$index" = yes ]; then
    # Only that index: a package of the same name on another index could be chosen.
    settings+=(PIP_CONFIG_FILE=/dev/null PIP_EXTRA_INDEX_URL= PIP_FIND_LINKS= PIP_NO_INDEX=)
    [ "$dry_run" = yes ] || while IFS= read -r argument; do settings+=("$argument"); done < <(connection)
  fi
  if [ "$shared" = no ] && [ "$dry_run" = no ]; then
    settings+=("PIP_CONSTRAINT=$constraints_address" "PIP_BUILD_CONSTRAINT=$constraints_address")
  fi
  run env ${settings[@]+"${settings[@]}"} "$PYTHON" -m pip install -c "$constraints" "$@"
}

# pip_locked [OPTION...] NAME...: exactly the releases of locked.txt, by their hashes.
pip_locked() {
  local argument
  local -a options=()
  [ "$dry_run" = yes ] || : >"$work/locked.txt"
  for argument in "$@"; do
    case "$argument" in
      -*) options+=("$argument") ;;
      *)
        [ "$dry_run" = no ] || { options+=("$argument"); continue; }
        grep -E "^$argument==" "$port/locked.txt" >>"$work/locked.txt" || fail "$step: $argument is not in locked.txt"
        ;;
    esac
  done
  [ "$dry_run" = yes ] || options+=(-r "$work/locked.txt")
  pip_install --require-hashes "${options[@]}"
}

# Connection settings of pip on this machine, without its indexes.
connection() {
  local option value
  for option in cert client-cert proxy trusted-host; do
    value="$("$PYTHON" -m pip config get "global.$option" 2>/dev/null | tr '\n' ' ' || true)"
    [ -z "$value" ] || printf 'PIP_%s=%s\n' "$(printf %s "$option" | tr 'a-z-' 'A-Z_')" "${value% }"
  done
}

# tools NAME...: installs those that are missing.
tools() {
  local -a lacking=("$@")
  [ "$dry_run" = yes ] || mapfile -t lacking < <(ask lacking "$@")
  [ "${#lacking[@]}" != 0 ] || return 0
  if [ -e "$port/locked.txt" ] && [ "$(grep -cE "^($(IFS='|' && printf '%s' "${lacking[*]}"))==" "$port/locked.txt")" = "${#lacking[@]}" ]; then
    pip_locked --no-deps --only-binary=:all: "${lacking[@]}"
  else
    unlocked "${lacking[@]}"
    pip_install "${lacking[@]}"
  fi
}

# fetch FOLDER NAME URL REVISION: clones into the build folder and applies patches; reuses an existing clone.
fetch() {
  local folder="$build/$1" name="$2" url="$3" revision="$4" found
  if [ -e "$folder/.git" ]; then
    [ "$(git -C "$folder" config remote.origin.url)" = "$url" ] || fail "$folder is a clone of another repository: remove it"
  else
    [ "$dry_run" = yes ] || rm -rf -- "$folder.part"
    run git clone --quiet --filter=blob:none -- "$url" "$folder.part"
    if [ -n "$revision" ] && [ "$dry_run" = yes ]; then
      run git -C "$folder.part" checkout --detach "$revision"
    elif [ -n "$revision" ]; then
      found="$(git -C "$folder.part" rev-parse --verify --quiet "refs/remotes/origin/$revision^{commit}" ||
        git -C "$folder.part" rev-parse --verify --quiet "$revision^{commit}" || true)"
      if [ -z "$found" ]; then
        run git -C "$folder.part" fetch --quiet origin "$revision"
        found="$(git -C "$folder.part" rev-parse FETCH_HEAD)"
      fi
      run git -C "$folder.part" checkout --quiet --detach "$found"
    fi
    run git -C "$folder.part" submodule update --quiet --init --recursive
    [ "$dry_run" = yes ] || mv -- "$folder.part" "$folder"
  fi
  if [ "$dry_run" = no ] && [[ "$revision" =~ ^[0-9a-f]{40}$ ]] && [ "$(git -C "$folder" rev-parse HEAD)" != "$revision" ]; then
    fail "$step: $folder is not at commit $revision: remove it"
  fi
  [ "$dry_run" = yes ] || printf '%s %s %s\n' "$name" "$url" "$(git -C "$folder" rev-parse HEAD)" >>"$work/commits.txt"
  patched "$name" "$folder"
}

# patched NAME FOLDER: applies the port's patch for exactly this commit, unless it is already applied.
patched() {
  local patch commit head other=""
  for patch in "$port/patches/$1@"*.patch; do
    [ -e "$patch" ] || continue
    if [ "$dry_run" = yes ]; then
      run git -C "$2" apply "$patch"
      return 0
    fi
    commit="${patch##*@}"
    commit="${commit%.patch}"
    head="$(git -C "$2" rev-parse HEAD)"
    if [ "${head:0:${#commit}}" = "$commit" ]; then
      git -C "$2" apply --reverse --check "$patch" 2>/dev/null || run git -C "$2" apply "$patch"
      return 0
    fi
    other="$patch is not for commit $head of $1"
  done
  [ -z "$other" ] || fail "$step: $other" "check out the commit in the patch's name, or run rocm3d plan and rocm3d apply again"
}

# submodules PATH...: checks out missing submodules at the repository's commits and applies their patches.
submodules() {
  local path
  if [ "$(git rev-parse --show-toplevel 2>/dev/null || true)" = "$root" ]; then
    if [ "$dry_run" = yes ] || git submodule status --recursive | grep '^-' >/dev/null; then
      run git submodule update --init --recursive
    fi
  fi
  for path in "$@"; do
    [ ! -e "$path/.git" ] || patched "$(basename -- "$path")" "$root/$path"
  done
}

# build FOLDER EXTRAS OPTIONS...: a build that needs torch uses the installed torch.
build() {
  local folder="$1" extras="$2" argument key="" shared=no
  shift 2
  local -a needs=() options=() target=("$folder$extras")
  for argument in "$@"; do
    case "$argument" in
      -e) target=(-e "$folder$extras") ;;
      --no-build-isolation) shared=yes ;;
      *) options+=("$argument") ;;
    esac
  done
  if [ "$dry_run" = no ]; then
    [ -e "$folder/setup.py" ] || [ -e "$folder/pyproject.toml" ] ||
      fail "$step: $folder is missing or empty" "if it is a submodule: git submodule update --init --recursive, or in a copy: rocm3d port . --submodules"
    case "$folder" in
      "$build"/*)
        key="$PYTHON $folder $(git -C "$folder" rev-parse HEAD) $( (cat "$port/patches/"*.patch 2>/dev/null || true) | cksum) $before $*"
        key="$(printf %s "$key" | cksum)"
        if grep -qsxF "$key" "$work/done.txt" && [ -n "$(ask from "$folder")" ]; then
          printf '   already installed\n'
          return 0
        fi
        ;;
    esac
    mapfile -t needs < <(ask build "$folder")
    [ "${needs[0]:-}" != shared ] || shared=yes
{% if private %}
    # An isolated build would ask the default index for names that another index has.
    shared=yes
    for argument in "${needs[@]:1}"; do
      case " {{ private | join(" ") }} " in
        *" $(printf '%s' "$argument" | sed -E 's/^([A-Za-z0-9._-]+).*/\1/; s/[-_.]+/-/g' | tr '[:upper:]' '[:lower:]') "*)
          fail "$step: the build requires $argument, which another index has: install it first"
          ;;
      esac
    done
{% endif %}
    if [ "$allowed" = no ]; then
      # An isolated build, and a dependency that the code names, would be fetched without a hash.
      [ "${#needs[@]}" -lt 2 ] ||
        fail "$step: the build requires ${needs[*]:1}, which is not locked" "install it first, or: bash install.sh --unlocked"
      shared=yes
      options+=(--no-deps)
    fi
  fi
  if [ "$shared" = yes ]; then
    [ "${#needs[@]}" -lt 2 ] || pip_install "${needs[@]:1}"
    options+=(--no-build-isolation)
  fi
  pip_install ${options[@]+"${options[@]}"} "${target[@]}"
  [ -z "$key" ] || printf '%s\n' "$key" >>"$work/done.txt"
}

{% if base %}
# The base consists of wheels: installs the missing ones first, from their own index, and keeps the others.
base() {
  local -a lacking=("$@")
  if [ "$dry_run" = no ]; then
    ask constraints "$port/constraints.txt" | sed '/==0+/d' >"$constraints"
    mapfile -t lacking < <(ask lacking "$@")
  fi
  [ "${#lacking[@]}" = 0 ] || { unlocked "${lacking[@]}" && pip_install --index-url {{ index | shell }} "${lacking[@]}"; }
}

{% endif %}
[ "$dry_run" = yes ] || constraints_address="$(ask address "$constraints")"
{% if base %}
printf '== the base\n'
base {{ base | words }}
{% endif %}
if [ "$dry_run" = no ]; then
  before="$(ask state)"
  printf '%s\n' "$before"
  case "$before" in
    "torch: none"*) fail "$PYTHON has no torch" {{ missing | shell }} ;;
    *"HIP: none"*) fail "the torch of $PYTHON is not a ROCm build" {{ missing | shell }} ;;
{% if torch %}
    "torch: torch=="{{ torch | shell }}[.+]*) ;;
    *) fail {{ ("the plan is for torch " ~ torch ~ ", but another version is installed") | shell }} "plan for the installed one: rocm3d plan . --gpu {{ gpu.product }} --keep-torch" ;;
{% endif %}
  esac
{% if python %}
  [ "$(ask python)" = {{ python | shell }} ] || printf 'install.sh: note: %s\n' {{ ("the plan is for Python " ~ python ~ "; its wheels may not work with this one") | shell }} >&2
{% endif %}
  ask constraints "$port/constraints.txt" >"$constraints"
  ask overrides "$port/overrides.txt" >"$work/overrides.txt"
fi

# ROCm installed from wheels has its compiler inside the environment.
if sdk="$("$(dirname -- "$PYTHON")/rocm-sdk" path --root 2>/dev/null)"; then
  export ROCM_HOME="${ROCM_HOME:-$sdk}" ROCM_PATH="${ROCM_PATH:-$sdk}"
fi
{% for step in steps %}

begin {{ loop.index }} {{ step.title | shell }}
{% if step.unlocked %}
unlocked {{ step.unlocked | map(attribute="name") | words }}
{% endif %}
{% for line in step.lines %}
{{ line }}
{% endfor %}
check
{% endfor %}

[ "$dry_run" = no ] || exit 0
printf '== done; %s, unchanged\n' "${before%%$'\n'*}"
note() {
  while IFS= read -r line; do printf 'install.sh: note: %s%s\n' "$line" "$1" >&2; done
}
{% if unwanted %}
ask there {{ unwanted | words }} | note " is installed although the plan excludes it: a dependency requires it"
{% endif %}
{% if expected %}
ask without {{ expected | words }} | note " is required by the repository but missing in the base"
{% endif %}
{% for text in left %}
printf '%s\n' {{ text | shell }} | note " (to do by hand)"
{% endfor %}
if ! broken_ones="$("$PYTHON" -m pip check 2>&1)"; then printf '%s\n' "$broken_ones" | note " (pip check)"; fi
