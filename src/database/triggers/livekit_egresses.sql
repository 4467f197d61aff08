-- LiveKit may speak of an egress before anybody has reported its call: then what it said waits in livekit_egresses. When
-- the call comes, through whichever API, its egresses come with it. Each becomes a row of egresses, with its audit
-- entry, as if it had been reported right after the call. One that was reported meanwhile stays as it is.
-- check_at is what a report would set (EGRESS_SILENCE in limits.ts).
CREATE TRIGGER `livekit_egresses_claimed` AFTER INSERT ON `calls`
WHEN EXISTS (SELECT 1 FROM livekit_egresses WHERE room_sid = new.key OR room_name = new.key)
BEGIN
  INSERT INTO egresses (organization_id, call_id, egress_id, status, error, is_stopped, ended_at, storage_key, check_at, created_at, updated_at)
  SELECT new.organization_id, new.id, egress_id, status, error, is_stopped, ended_at, storage_key,
    iif(status = 'egress_ended', NULL, new.created_at + 600000), new.created_at, new.created_at
  FROM livekit_egresses
  WHERE (room_sid = new.key OR room_name = new.key)
    AND NOT EXISTS (SELECT 1 FROM egresses WHERE egresses.egress_id = livekit_egresses.egress_id)
  ORDER BY livekit_egresses.created_at, livekit_egresses.egress_id;
  DELETE FROM livekit_egresses WHERE room_sid = new.key OR room_name = new.key;
END;
