# SPDX-License-Identifier: GPL-2.0-or-later
# NVIDIA's own libcuda and libnvidia-ml, on a machine without its GPU: the true way to "there is no device" and "no driver". The packages
# are fetched from the part of Debian that is not free, unpacked in a temporary folder and not installed.
# only: full
bats_require_minimum_version 1.5.0

setup_file()
{
	export HELPER=${BUILD:?set BUILD to the folder in which the project was built}/gpu_check/gpu-check-helper
	export PATH=$BUILD/gpu_check:$PATH
	cd "$BATS_FILE_TMPDIR"
	fetch libcuda1 libnvidia-ml1 >fetch.log 2>&1 || { cat fetch.log; return 1; }
	LIBRARIES=$(dirname "$(find "$PWD/root" -name libcuda.so.1)")
	NVML=$(find "$PWD/root" -name libnvidia-ml.so.1)
	export LIBRARIES NVML
	mkdir -p node/sys/bus/pci/devices/0000:c1:00.0
	echo 0x030200 >node/sys/bus/pci/devices/0000:c1:00.0/class
	echo 0x10de >node/sys/bus/pci/devices/0000:c1:00.0/vendor
}

# fetch PACKAGE...: of this system's release, unpacked in ./root
fetch()
{
	local apt=(apt-get -o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$PWD/lists"
		-o Dir::Cache="$PWD/cache" -o APT::Sandbox::User=root)

	mkdir -p lists/partial cache/archives/partial
	apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) non-free' 'Created-By: Packages' | sort -u | grep -v security >sources.list
	"${apt[@]}" update && "${apt[@]}" download "$@"
	for package; do dpkg -x "$package"_*.deb root || return 1; done
}

@test "NVIDIA's library without a device: no device, and every symbol is there" {
	LD_LIBRARY_PATH=$LIBRARIES run -4 gpu-check --helper "$HELPER" --backend cuda -o json
	echo "$output"
	told=$(grep '^{' <<<"$output" | jq -r '.backends[0] | "\(.cause) \(.stage) \(.version) \(.library)"')
	[[ $told == "no-device init CUDA 1"*" $LIBRARIES/libcuda.so"* && $output == *"CUDA_ERROR_NO_DEVICE (100)"* ]]
}

@test "devices that are hidden are no failure" {
	LD_LIBRARY_PATH=$LIBRARIES CUDA_VISIBLE_DEVICES= run -5 gpu-check --helper "$HELPER" --backend cuda
	[[ $output == *"a variable hides all devices"* ]]
	LD_LIBRARY_PATH=$LIBRARIES CUDA_VISIBLE_DEVICES= SLURM_STEP_GPUS=0 run -0 gpu-check --helper "$HELPER" --backend cuda
	[[ $output == *"warning cuda: 1 given by Slurm, 0 in CUDA_VISIBLE_DEVICES"* ]]
}

@test "NVIDIA's management library without a driver: that is the text, for the node and for the report; every symbol is there" {
	[[ -e $NVML ]]
	run gpu-check node --root "$BATS_FILE_TMPDIR/node" --nvml "$NVML"
	echo "$output"
	[[ $output == *"unread NVML: $NVML: nvmlInit gives error 9"* && $status == @(6|7) ]]
	run -0 gpu-check report --root "$BATS_FILE_TMPDIR/node" --nvml "$NVML"
	echo "$output"
	[[ $output == *"not told: $NVML: nvmlInit gives error 9"* ]]
	for name in $(grep -ohE '"nvml[A-Z][A-Za-z]*(_v[0-9])?"' "$BATS_TEST_DIRNAME"/../../gpu_check/nv{ml,link}.c | tr -d '"' | sort -u); do
		nm -D --defined-only "$NVML" | grep -qw "$name" || missing="$missing $name"
	done
	echo "missing in this version:$missing"
	# the one of newer drivers has its older name beside it in the table
	[[ -z $missing || $missing == " nvmlDeviceGetCurrentClocksEventReasons" ]]
}
