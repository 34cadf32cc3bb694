-- SPDX-License-Identifier: GPL-2.0-or-later
-- year.sql - a long history: :rows runs that were charged, each with its charge and its line in the journal
--
-- One job every 30 seconds and each charged two minutes of a GPU, ending now: a year of a busy cluster. All keys, CHECKs and
-- triggers are in force. The project must have an allocation with enough in it; sums and balances come out right.
PRAGMA foreign_keys = ON;
PRAGMA cache_size = -262144;
PRAGMA synchronous = OFF;
BEGIN;
CREATE TEMP TABLE p AS SELECT p.id AS project, a.id AS allocation, s.amount AS amount, s.charged AS charged,
	unixepoch() - 30 * (SELECT value FROM wanted) AS begun
	FROM project p JOIN allocation a ON a.project = p.id JOIN allocation_sum s ON s.allocation = a.id
	WHERE p.name = 'vision';
CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < (SELECT value FROM wanted)) SELECT i FROM n;
INSERT INTO run (id, cluster, job, submit, start, label, project, uid, partition, tier, min_runtime, gpus, tres, price, covered_until,
	ended, state)
	SELECT i, 'gpubudget', i, begun + 30 * i - 130, begun + 30 * i - 120, i, project, 1001, 'batch', 'funded', 900, 1,
	'billing=1,cpu=1,gres/gpu=1,node=1', 1000, begun + 30 * i, begun + 30 * i, 'COMPLETED' FROM n, p;
INSERT INTO charge (id, run, seq, kind, project, at, part_start, part_end, gpus, price, units)
	SELECT i, i, 0, 'funded', project, begun + 30 * i, begun + 30 * i - 120, begun + 30 * i, 1, 1000, 120000 FROM n, p;
INSERT INTO journal (at, kind, allocation, project, units, balance, charge, actor)
	SELECT begun + 30 * i, 'charge', allocation, project, -120000, amount - charged - 120000 * i, i, 'budgetd' FROM n, p;
UPDATE allocation_sum SET charged = charged + 120000 * (SELECT value FROM wanted) WHERE allocation = (SELECT allocation FROM p);
COMMIT;
