# SPDX-License-Identifier: GPL-2.0-or-later
# orphan.bash FILE COMMAND - for starter.bats: start a cluster, write its folder to FILE, and die without a word
# while COMMAND runs in a job, in a session of its own.
source "${BASH_SOURCE[0]%/*}/cluster.bash"

cluster_up --plain --nodes 1 --gpus 1 || exit 1
as ada sbatch --output=out --wrap "setsid $2 & echo started; wait" >/dev/null
started() { grep -q started "$CLUSTER_DIR/home/gpb-ada/out" && pgrep -fx "$2" >/dev/null; }
eventually started "$@"
echo "$CLUSTER_DIR" >"$1"
kill -KILL $$
