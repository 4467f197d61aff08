-- LiveKit may speak of an egress before anybody has reported its call: then what it said waits in livekit_egresses. When
-- the call comes, through whichever API, its egresses come with it. Each becomes a row of egresses, with its audit
-- entry, as if it had been reported right after the call. One that was reported meanwhile stays as it is.
--
-- The name of a room can be used again, so it leads to no call that had ended when the egress began, or began a day before and has
-- no end, nor to one that started more than five minutes later (LIVEKIT_ROOM_TOLERANCE and SILENCE_UNTIL_END in src/lifetimes.ts),
-- or after the egress had ended: such an egress goes on waiting for its sid. A file that another recording has is left out.
--
-- The sid and the name are looked up one by one: with OR, SQLite reads all egresses that wait in the organization.
CREATE TRIGGER `livekit_egresses_moved` AFTER INSERT ON `calls`
WHEN EXISTS (SELECT 1 FROM livekit_egresses WHERE organization_id = new.organization_id AND room_sid = new.key)
  OR EXISTS (SELECT 1 FROM livekit_egresses WHERE organization_id = new.organization_id AND room_name = new.key)
BEGIN
  INSERT INTO egresses (organization_id, call_id, egress_id, status, error, is_stopped, began_at, ended_at, storage_key,
    check_at, created_at, updated_at)
  SELECT organization_id, new.id, egress_id, status, error, is_stopped, iif(room_sid = new.key, NULL, started_at), ended_at, iif(EXISTS (
      SELECT 1 FROM egress_files
      WHERE organization_id = new.organization_id AND storage_key = livekit_egresses.storage_key
    ), NULL, storage_key), check_at, new.created_at, new.created_at
  FROM livekit_egresses
  WHERE rowid IN (
      SELECT rowid FROM livekit_egresses WHERE organization_id = new.organization_id AND room_sid = new.key
      UNION ALL
      SELECT rowid FROM livekit_egresses WHERE organization_id = new.organization_id AND room_name = new.key
    )
    AND (room_sid = new.key OR (new.started_at <= min(started_at + 300000, coalesce(ended_at, started_at + 300000))
      AND coalesce(new.ended_at, new.started_at + 86400000) >= started_at))
    AND NOT EXISTS (
      SELECT 1 FROM egresses
      WHERE organization_id = new.organization_id AND egresses.egress_id = livekit_egresses.egress_id
    )
  ORDER BY livekit_egresses.created_at, livekit_egresses.egress_id;
  DELETE FROM livekit_egresses
  WHERE rowid IN (
      SELECT rowid FROM livekit_egresses WHERE organization_id = new.organization_id AND room_sid = new.key
      UNION ALL
      SELECT rowid FROM livekit_egresses WHERE organization_id = new.organization_id AND room_name = new.key
    )
    AND EXISTS (
      SELECT 1 FROM egresses
      WHERE organization_id = new.organization_id AND egresses.egress_id = livekit_egresses.egress_id
    );
END;
