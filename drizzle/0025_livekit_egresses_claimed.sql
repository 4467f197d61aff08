-- Written by `npm run db:triggers`. The reasons are in src/database/triggers.
--> statement-breakpoint
CREATE TRIGGER `livekit_egresses_claimed` AFTER INSERT ON `calls`
WHEN EXISTS (SELECT 1 FROM livekit_egresses WHERE room_sid = new.key OR room_name = new.key)
BEGIN
  INSERT INTO egresses (organization_id, call_id, egress_id, status, error, is_stopped, ended_at, storage_key, created_at, updated_at)
  SELECT new.organization_id, new.id, egress_id, status, error, is_stopped, ended_at, storage_key, new.created_at, new.created_at
  FROM livekit_egresses
  WHERE (room_sid = new.key OR room_name = new.key)
    AND NOT EXISTS (SELECT 1 FROM egresses WHERE egresses.egress_id = livekit_egresses.egress_id)
  ORDER BY livekit_egresses.created_at, livekit_egresses.egress_id;
  DELETE FROM livekit_egresses WHERE room_sid = new.key OR room_name = new.key;
END;
