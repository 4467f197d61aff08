-- The times of people, in the indexes with which lists and the cron find them. A person's retention begins when their last wait or call has
-- ended, and their visit is over.
CREATE VIEW `computed_person_times` AS
SELECT people.id AS person_id, visits.starts_at AS visit_starts_at, iif(
    count(participants.id) > count(iif(participants.call_id IS NULL, participants.left_at, calls.ended_at))
      OR (people.erased_at IS NOT NULL AND count(participants.id) = count(participants.erased_at)),
    NULL,
    nullif(max(
      coalesce(max(iif(participants.call_id IS NULL, participants.left_at, calls.ended_at)), 0),
      coalesce(iif(visits.status = 'cancelled', min(visits.cancelled_at, visits.ends_at), visits.ends_at), 0)
    ), 0)
  ) AS over_at
FROM people LEFT JOIN visits ON visits.id = people.visit_id
LEFT JOIN participants ON participants.person_id = people.id
LEFT JOIN calls ON calls.id = participants.call_id
GROUP BY people.id;

-- The copies. Only the test of the rebuild reads this view.
CREATE VIEW `person_times` AS
SELECT id AS person_id, visit_starts_at, over_at FROM people;

-- A view used as a procedure, which SQLite lacks: it stores nothing. An insert copies the times to a person.
CREATE VIEW `person_time_changes` AS
SELECT NULL AS person_id;

CREATE TRIGGER `person_time_change` INSTEAD OF INSERT ON `person_time_changes`
BEGIN
  UPDATE people SET (visit_starts_at, over_at) =
    (SELECT visit_starts_at, over_at FROM computed_person_times WHERE person_id = new.person_id)
  WHERE id = new.person_id;
END;

CREATE TRIGGER `person_times_planned` AFTER INSERT ON `people` WHEN new.visit_id IS NOT NULL
BEGIN
  INSERT INTO person_time_changes VALUES (new.id);
END;

CREATE TRIGGER `person_times_erased` AFTER UPDATE OF erased_at ON `people` WHEN old.erased_at IS NOT new.erased_at
BEGIN
  INSERT INTO person_time_changes VALUES (new.id);
END;

CREATE TRIGGER `person_times_visit_moved` AFTER UPDATE OF starts_at, ends_at, status ON `visits`
WHEN old.starts_at <> new.starts_at OR old.ends_at <> new.ends_at OR new.status = 'cancelled'
BEGIN
  INSERT INTO person_time_changes SELECT id FROM people WHERE visit_id = new.id;
END;

CREATE TRIGGER `person_times_participant_inserted` AFTER INSERT ON `participants`
BEGIN
  INSERT INTO person_time_changes VALUES (new.person_id);
END;

CREATE TRIGGER `person_times_participant_updated` AFTER UPDATE OF call_id, left_at, erased_at ON `participants`
WHEN old.call_id IS NOT new.call_id OR old.left_at IS NOT new.left_at OR old.erased_at IS NOT new.erased_at
BEGIN
  INSERT INTO person_time_changes VALUES (new.person_id);
END;

CREATE TRIGGER `person_times_call_ended` AFTER UPDATE OF ended_at ON `calls`
WHEN old.ended_at IS NOT new.ended_at
BEGIN
  INSERT INTO person_time_changes SELECT person_id FROM participants WHERE call_id = new.id;
END;
