# SPDX-License-Identifier: GPL-2.0-or-later
# budget.bash - the product in a throwaway cluster: budgetd, the plugins, and the words of tests that are about money
#
#   balance_is PROJECT "held=6.00 available=2.00"   a condition; GPU-hours, any of amount charged balance held credit available
#   units PROJECT held      the same as a number of units
#   tier_is NAME funded     what budgetd says of the job; a condition
#   deposit PROJECT HOURS   adds to the project's allocation, the first time opens one
#   why NAME                what budgetctl says of the job
#
# budgetd, budgetctl and the plugins of $BUILD are copied into the cluster's folder: ordinary users must be able to load
# them, and a build folder may lie in somebody's home. All other words of budgetctl are said as they are.

product_need()
{
	local file

	[[ -n ${BUILD-} ]] || { echo "cluster_up: set BUILD to the folder in which the project was built" >&2; return 1; }
	for file in budgetd/budgetd budgetctl/budgetctl job_submit/.libs/job_submit_gpubudget.so spank/.libs/gpubudget.so; do
		[[ -e $BUILD/$file ]] || { echo "cluster_up: $BUILD/$file is missing: run make there" >&2; return 1; }
	done
}

product_copy()
{
	mkdir -m 755 "$1/bin" "$1/lib"
	cp "$BUILD"/budgetd/budgetd "$BUILD"/budgetctl/budgetctl "$1/bin" &&
		cp "$BUILD"/job_submit/.libs/job_submit_gpubudget.so "$BUILD"/spank/.libs/gpubudget.so "$1/lib" &&
		chmod 755 "$1"/bin/* "$1"/lib/*
}

# A pass a second and short-lived holds, so that a test need not wait for them; the rest is the product's default.
budgetd_write()
{
	local dir=$1

	mkdir -m 755 "$dir/budgetd"
	{
		cat <<-END
			socket = $dir/run/budgetd.socket
			slurm_socket = $dir/run/budgetd-slurm.socket
			database = $dir/budgetd/budget.db
			pass_interval = 1s
			unbound_hold = 5s
		END
		printf '%s\n' "${budgetd_conf[@]}"
	} >"$dir/etc/budgetd.conf"
	"$dir/bin/budgetd" -c "$dir/etc/budgetd.conf" --init || return 1
	echo "export SLURM_CONF=$dir/etc/slurm.conf; exec $dir/bin/budgetd -c $dir/etc/budgetd.conf" >"$dir/run/budgetd.start"
}

# 6: it answers that something is ill, as Slurm that has not been started yet.
budgetd_answers() { budgetctl health >/dev/null || (($? == 6)); }

# Programs, then projects with owners and members, of the accounts that scene_accounts made. Nobody has GPU-hours yet.
scene_projects()
{
	budgetctl project add ai --share 100 &&
		budgetctl project add vision --parent ai --share 60 --owners gpb-ada --members gpb-bob &&
		budgetctl project add speech --parent ai --share 40 --owners gpb-carol --members gpb-bob
} >/dev/null

deposit()
{
	local reason="for $1, by the test"

	if [[ $(budgetctl allocation list "$1" -n -o parsable | wc -l) == 0 ]]; then
		budgetctl allocation add "$1" "$2" --reason "$reason"
	else
		budgetctl deposit "$1" "$2" --reason "$reason"
	fi >/dev/null
}

units()
{
	budgetctl balance "$1" -o json | jq -e -r --arg p "$1" --arg k "$2_units" \
		'[.. | objects | select(.project? == $p)][0][$k]'
}

balance_is()
{
	local project=$1 want key got

	for want in $2; do
		key=${want%%=*}
		got=$(units "$project" "$key" | awk '{ printf "%.2f", $1 / 3600000 }')
		[[ $got == "${want#*=}" ]] || { echo "$project has $key=$got, wanted $want" >&2; return 1; }
	done
}

why() { budgetctl why "$(job "$1")"; }

tier_is() { budgetctl why "$(job "$1")" -o json | jq -e --arg t "$2" '[.. | objects | .tier?][0] == $t' >/dev/null; }
