-- Schema version 2: which inputs are constant is part of what a schedule was tuned for.
--
-- Canonical numbers of these tensors, "1" or "1,3"; empty where there are none, as in everything written before. Where it
-- is not empty, `workload` and `id` cover it, too.
ALTER TABLE program ADD COLUMN constants TEXT NOT NULL DEFAULT '';
