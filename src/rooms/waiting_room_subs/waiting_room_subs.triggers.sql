CREATE TRIGGER `events_waiting_room_sub_created` AFTER INSERT ON `waiting_room_subs`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'waiting_room_sub.changed',
    json_object('waiting_room_id', new.waiting_room_id, 'waiting_room_sub_id', new.id), new.created_at);
END;

CREATE TRIGGER `events_waiting_room_sub_updated`
AFTER UPDATE OF user_id, datetime_start, datetime_end ON `waiting_room_subs`
WHEN old.user_id IS NOT new.user_id
  OR old.datetime_start <> new.datetime_start
  OR old.datetime_end <> new.datetime_end
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'waiting_room_sub.changed',
    json_object('waiting_room_id', new.waiting_room_id, 'waiting_room_sub_id', new.id), new.updated_at);
END;

CREATE TRIGGER `events_waiting_room_sub_deleted` AFTER DELETE ON `waiting_room_subs`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (old.organization_id, 'waiting_room_sub.changed',
    json_object('waiting_room_id', old.waiting_room_id, 'waiting_room_sub_id', old.id),
    cast(unixepoch('subsec') * 1000 AS INTEGER));
END;
