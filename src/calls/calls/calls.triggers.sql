-- A call that has already ended when it is first reported gets both events.
CREATE TRIGGER `events_call_started` AFTER INSERT ON `calls`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'call.started',
    json_object('organization_user_id', new.organization_user_id, 'call_id', new.id), new.created_at);
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT new.organization_id, 'call.ended',
    json_object('organization_user_id', new.organization_user_id, 'call_id', new.id), new.created_at
  WHERE new.ended_at IS NOT NULL;
END;

-- Transcripts and SOAP notes can be read once the call has ended. Final ones may be reported before, so they are announced when it
-- ends. A reported end that replaces an assumed one is a change, even if the time is the same. The erasure of a reference is not.
CREATE TRIGGER `events_call_updated`
AFTER UPDATE OF organization_user_id, external_reference, failed, ended_at, end_is_assumed ON `calls`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  SELECT new.organization_id, type,
    json_object('organization_user_id', new.organization_user_id, 'call_id', new.id), new.updated_at
  FROM (
    SELECT 'call.updated' AS type
    WHERE old.organization_user_id <> new.organization_user_id
      OR coalesce(old.failed, 0) <> coalesce(new.failed, 0)
      OR (old.external_reference IS NOT new.external_reference AND new.reference_erased_at IS NULL)
      OR (old.ended_at IS NOT NULL
        AND (old.ended_at IS NOT new.ended_at OR old.end_is_assumed <> new.end_is_assumed))
    UNION ALL
    SELECT value FROM json_each(iif(old.ended_at IS NULL AND new.ended_at IS NOT NULL, json_array(
      'call.ended',
      (SELECT 'transcript.finalized' FROM call_texts WHERE call_id = new.id AND kind = 'transcript' AND is_final),
      (SELECT 'soap_note.finalized' FROM call_texts WHERE call_id = new.id AND kind = 'soap_note' AND is_final)
    ), '[]')) WHERE value IS NOT NULL
  );
END;

CREATE TRIGGER `events_call_results_ready` AFTER UPDATE OF results_awaited_since ON `calls`
WHEN old.results_awaited_since IS NOT NULL AND new.results_awaited_since IS NULL
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'call.results_ready',
    json_object('organization_user_id', new.organization_user_id, 'call_id', new.id), new.updated_at);
END;

-- The reference may identify a participant. So it is erased together with the names, and also when a call is first reported for a
-- participant who is already erased. A legal hold keeps the reference; the cron erases it after the hold (calls.chores.ts).
CREATE TRIGGER `participants_erased_on_call` AFTER UPDATE OF call_id, erased_at ON `participants`
WHEN new.erased_at IS NOT NULL AND new.call_id IS NOT NULL
  AND (old.erased_at IS NULL OR old.call_id IS NOT new.call_id)
BEGIN
  UPDATE calls
  SET external_reference = NULL, reference_erased_at = new.updated_at,
    updated_at = max(updated_at, new.updated_at)
  WHERE id = new.call_id AND reference_erased_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM legal_holds WHERE call_id = new.call_id AND legal_holds.ended_at IS NULL);
END;

-- A call has the reference of its visit, unless a report or the organization has said another one of the call.
CREATE TRIGGER `call_references_of_visit` AFTER UPDATE OF external_reference ON `visits`
WHEN old.external_reference IS NOT new.external_reference
BEGIN
  UPDATE calls
  SET external_reference = new.external_reference, updated_at = max(updated_at, new.updated_at),
    reference_erased_at = new.reference_erased_at
  WHERE visit_id = new.id AND reference_said_by IS NULL AND reference_erased_at IS NULL;
END;

CREATE TRIGGER `call_visit_holders` AFTER UPDATE OF organization_user_id ON `visits`
WHEN old.organization_user_id IS NOT new.organization_user_id
BEGIN
  UPDATE calls SET visit_holder_id = new.organization_user_id WHERE visit_id = new.id;
END;

CREATE TRIGGER `call_references_not_restored` BEFORE UPDATE OF external_reference ON `calls`
WHEN new.reference_erased_at IS NOT NULL AND new.external_reference IS NOT NULL
BEGIN
  SELECT raise(ABORT, 'the reference of the call was erased');
END;
