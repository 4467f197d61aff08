-- Copies the times to every person again.
UPDATE people SET (visit_starts_at, over_at) =
  (SELECT visit_starts_at, over_at FROM computed_person_times WHERE person_id = people.id);
