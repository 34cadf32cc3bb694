-- SPDX-License-Identifier: GPL-2.0-or-later
-- job_submit.lua - what a site could do without a daemon: the arithmetic alone, for comparison
--
-- Counts the GPUs, prices the minimum runtime, checks a table of balances up the tree and takes the hold off it. Nothing is kept,
-- nothing is charged, nobody else sees it: this is the floor under any job_submit plugin that says yes or no to money.
local parent = { vision = "ai", speech = "ai" }
local available = { ai = 3600000 * 1e9, vision = 3600000 * 1e8, speech = 3600000 * 1e8 }

local function gpus_of(text)
	local count = text and string.match(text, "gpu[^,]*:(%d+)")
	return tonumber(count) or (text and string.find(text, "gpu") and 1) or 0
end

function slurm_job_submit(job, partitions, uid)
	local gpus = gpus_of(job.tres_per_job) + gpus_of(job.tres_per_node)
	local units, project = gpus * 900 * 1000, job.account
	if gpus == 0 then
		return slurm.SUCCESS
	end
	while project do
		if (available[project] or 0) < units then
			job.qos = "free"
			slurm.log_user("free tier: %s cannot pay %d units", project, units)
			return slurm.SUCCESS
		end
		project = parent[project]
	end
	project = job.account
	while project do
		available[project] = available[project] - units
		project = parent[project]
	end
	job.qos = "funded"
	job.admin_comment = string.format("bench:%d", units)
	slurm.log_user("funded: %d units set aside", units)
	return slurm.SUCCESS
end

function slurm_job_modify(job, record, partitions, uid)
	return slurm.SUCCESS
end

return slurm.SUCCESS
