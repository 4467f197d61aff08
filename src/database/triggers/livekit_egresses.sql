-- LiveKit may speak of an egress before anybody has reported its call: then what it said waits in livekit_egresses. When
-- the call comes, through whichever API, its egresses come with it. Each becomes a row of egresses, with its audit
-- entry, as if it had been reported right after the call. One that was reported meanwhile stays as it is.
--
-- The name of a room can be used again, so it leads to no call that had ended when the egress began: such an egress goes on
-- waiting for its sid. A file of another organization is left out. An egress goes on waiting if it or its file is claimed for
-- an organization of another database: the cron asks that one (see src/directory/waiting_egresses.ts).
CREATE TRIGGER `livekit_egresses_claimed` AFTER INSERT ON `calls`
WHEN EXISTS (SELECT 1 FROM livekit_egresses WHERE room_sid = new.key OR room_name = new.key)
BEGIN
  INSERT INTO egresses (organization_id, call_id, egress_id, status, error, is_stopped, ended_at, storage_key, check_at, created_at, updated_at)
  SELECT new.organization_id, new.id, egress_id, status, error, is_stopped, ended_at, iif(EXISTS (
      SELECT 1 FROM storage_keys
      WHERE storage_key = livekit_egresses.storage_key AND organization_id <> new.organization_id
    ), NULL, storage_key), check_at, new.created_at, new.created_at
  FROM livekit_egresses
  WHERE (room_sid = new.key OR (room_name = new.key AND (new.ended_at IS NULL OR new.ended_at > started_at)))
    AND NOT EXISTS (SELECT 1 FROM egresses WHERE egresses.egress_id = livekit_egresses.egress_id)
    AND NOT EXISTS (SELECT 1 FROM locations WHERE kind = 'egress' AND key = livekit_egresses.egress_id)
    AND NOT EXISTS (SELECT 1 FROM locations WHERE kind = 'file' AND key = livekit_egresses.storage_key)
  ORDER BY livekit_egresses.created_at, livekit_egresses.egress_id;
  DELETE FROM livekit_egresses
  WHERE (room_sid = new.key OR room_name = new.key)
    AND EXISTS (SELECT 1 FROM egresses WHERE egresses.egress_id = livekit_egresses.egress_id);
END;
