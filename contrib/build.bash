# SPDX-License-Identifier: GPL-2.0-or-later
# build.bash - build a copy of the tree in a temporary folder; for contrib/check and contrib/demo
#
# The tree itself is not touched, and one that somebody has configured in place does not disturb.

# sources_copy FROM TO: what git sees, new files included; all of it where there is no git. Ends with a configure script.
sources_copy()
{
	mkdir "$2"
	if git -c safe.directory='*' -C "$1" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
		git -c safe.directory='*' -C "$1" ls-files -z -co --exclude-standard |
			(cd "$1" && while IFS= read -r -d '' file; do [[ ! -e $file ]] || printf '%s\0' "$file"; done |
				tar --null -cf - -T -) | tar -C "$2" -xf -
	else
		cp -a "$1/." "$2"
	fi
	[[ -x $2/configure ]] || (cd "$2" && autoreconf -fi)
}

# build SOURCES FOLDER CONFIGURE-WORDS...
build() { build_only "$1" "$2" all "${@:3}"; }

# build_only SOURCES FOLDER TARGET CONFIGURE-WORDS...
build_only()
{
	local sources=$1

	mkdir -p "$2" && cd "$2" && "$sources/configure" "${@:4}" && make -j"$(nproc)" "$3"
}
