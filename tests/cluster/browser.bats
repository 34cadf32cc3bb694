# SPDX-License-Identifier: GPL-2.0-or-later
# The page in a real browser: Chromium without a screen, over jobs of a real Slurm. SHOTS=FOLDER keeps its pictures.
# only: full
# time: 600 s
load cluster

setup_file()
{
	command -v chromium >/dev/null || { echo "not installed: chromium (see contrib/packages)" >&2; return 1; }
	cluster_up --nodes 1 --gpus 4
	export PORT=$(($(sed -n 's/^SlurmctldPort=//p' "$SLURM_CONF") + 90)) SECRET=0123456789abcdef0123456789abcdef
	export PAGE=http://127.0.0.1:$PORT SHOTS=${SHOTS:-$BATS_FILE_TMPDIR}
	(umask 077 && echo "$SECRET" >"$CLUSTER_DIR/etc/page.secret")
	printf '%s\n' "page_listen = 127.0.0.1:$PORT" 'page_proxies = "127.0.0.1"' "page_secret_file = $CLUSTER_DIR/etc/page.secret" >>"$GPUBUDGET_CONF"
	cluster_restart budgetd
	deposit vision 100 && deposit speech 50
	# A free run that gave way to a funded one, which runs; and a queue of both tiers.
	as bob submit cheap --account=vision --gpus=4 --gpu-tier=free --time=60
	eventually job_is cheap RUNNING
	as ada submit train --gpus=4 --gpu-min-runtime=1h --time=120
	eventually job_is train RUNNING funded
	eventually job_is cheap PENDING
	as carol submit listen --gpus=4 --gpu-min-runtime=30m --time=60
	as ada submit later --gpus=2 --gpu-min-runtime=30m --time=60
	eventually queued 3
	eventually told_of cheap
}
teardown_file()	{ cluster_down; }

# queued N: so many rows are in the queue of the page.
queued()	{ [[ $(curl -s --unix-socket "$CLUSTER_DIR/run/budgetd.socket" http://x/v1/queue | jq '.rows | length') == "$1" ]]; }
told_of()	{ [[ $(budgetctl events "$(job "$1")" -o json | jq '.rows | length') -gt 0 ]]; }

# browse USER COMMAND...: see browser.perl
browse()
{
	local folder

	folder=$(mktemp -d "$BATS_TEST_TMPDIR/chromium.XXXXXX")
	perl "$BATS_TEST_DIRNAME/browser.perl" "$folder" "X-Remote-User: $1" "X-Gpubudget-Secret: $SECRET" -- "${@:2}" ||
		{ tail -n 20 "$folder/chromium.log" >&2; return 1; }
}

# What a screen reader needs, and what a view may not do without.
structure='[...document.querySelectorAll("table")].every(t => t.caption && t.caption.textContent && t.querySelector("thead th[scope=col]")) &&
	[...document.querySelectorAll("svg")].every(s => s.getAttribute("aria-hidden") == "true" || (s.getAttribute("role") == "img" && s.querySelector("title"))) &&
	[...document.querySelectorAll("input")].every(i => i.labels.length == 1) && document.querySelectorAll("h1").length == 1 &&
	document.documentElement.lang == "en" && !!document.title && document.querySelectorAll("main").length == 1'

@test "each view is whole on a screen and on a phone, says nothing on the console and asks nobody else" {
	local commands=() view name width

	for view in / "/project?project=vision" /queue "/job?id=$(job cheap)" "/job?id=$(job train)" /nowhere; do
		commands+=(open "$PAGE$view" eval "$structure")
		name=${view//[^a-z0-9]/}
		for width in 1280x900 400x800; do
			commands+=(size $width eval "document.documentElement.scrollWidth <= ${width%x*}" shot "$SHOTS/page-${name:-tree}-$width.png")
		done
	done
	browse root "${commands[@]}" requests console >"$BATS_TEST_TMPDIR/said"
	cat "$BATS_TEST_TMPDIR/said"
	[[ $(grep -c '^true$' "$BATS_TEST_TMPDIR/said") == 18 ]]
	# the last view is not there, which the browser notes; nothing else
	[[ $(grep -cv -e '^true$' -e "^$PAGE/" "$BATS_TEST_TMPDIR/said") -le 1 ]]
	! grep -v -e '^true$' -e "^$PAGE/" -e '404 (Not Found)' "$BATS_TEST_TMPDIR/said"
	grep -qx "$PAGE/page.css" "$BATS_TEST_TMPDIR/said"
}

@test "a keyboard is enough from the first view to a job" {
	local at='document.activeElement.textContent' tabs said

	# the link over the menu, the menu, the form; then the table and the first project
	said=$(browse root open "$PAGE/" key Tab eval "$at" key Tab eval "$at" key Tab eval "$at" follow eval document.title)
	[[ $said == $'To the content\nProjects\nQueue\nQueue'* ]] || { echo "$said"; return 1; }
	tabs=(key Tab key Tab key Tab key Tab key Tab key Tab key Tab)	# over menu, form and the table itself to its first job
	said=$(browse root open "$PAGE/queue" "${tabs[@]}" eval "$at" follow eval 'document.querySelector("h1").textContent')
	[[ $said =~ ^([0-9]+)$'\n'"Job "([0-9]+)$ && ${BASH_REMATCH[1]} == "${BASH_REMATCH[2]}" ]] || { echo "$said"; return 1; }
}

@test "the queue stands as budgetd published it, and a user sees own jobs in it" {
	local rows='[...document.querySelectorAll("tbody th")].map(t => t.textContent).join(" ")' places

	places=$(for name in listen later cheap; do echo "$(job_field $name Priority) $(job $name)"; done | sort -rn | cut -d' ' -f2 | paste -sd' ')
	[[ $(browse root open "$PAGE/queue" eval "$rows") == "$places" ]]
	[[ $(browse gpb-carol open "$PAGE/queue" eval "$rows") == "$(job listen)" ]]
}

@test "ten thousand jobs in one view stay usable" {
	local folder=$BATS_TEST_TMPDIR/many said

	mkdir "$folder"
	PAGE_OUT=$folder/queue.html CK_RUN_SUITE=page CK_RUN_CASE=views CASES=$BATS_TEST_DIRNAME/../unit "$BUILD/tests/unit/unit" >/dev/null
	curl -s "$PAGE/page.css" >"$folder/page.css"
	said=$(browse root open "file://$folder/queue.html" eval 'document.querySelectorAll("tbody tr").length' \
		eval 'Math.round(performance.getEntriesByType("navigation")[0].loadEventEnd)' \
		eval '(() => { let t = performance.now(); scrollTo(0, document.documentElement.scrollHeight); document.body.getBoundingClientRect(); return Math.round(performance.now() - t) })()' \
		shot "$SHOTS/page-many.png")
	echo "# 10,000 jobs: $(stat -c %s "$folder/queue.html") bytes; rows, ms until loaded, ms to the end of it: ${said//$'\n'/, }" >&3
	read -rd '' rows loaded end <<<"$said" || true
	((rows == 10000 && loaded < 60000 && end < 5000))
}
