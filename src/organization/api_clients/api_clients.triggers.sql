CREATE TRIGGER `events_api_client_created` AFTER INSERT ON `api_clients`
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'api_client.created', json_object('api_client_id', new.id), new.created_at);
END;

CREATE TRIGGER `events_api_client_revoked` AFTER UPDATE OF revoked_at ON `api_clients`
WHEN old.revoked_at IS NULL AND new.revoked_at IS NOT NULL
BEGIN
  INSERT INTO events (organization_id, type, data, created_at)
  VALUES (new.organization_id, 'api_client.revoked', json_object('api_client_id', new.id), new.revoked_at);
END;
