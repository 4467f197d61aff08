-- The service's own user, who has no email, is of no organization (see SYSTEM_USER in src/database/schema.ts).
CREATE TRIGGER `organization_users_are_people` BEFORE INSERT ON `organization_users`
WHEN (SELECT email FROM users WHERE id = new.user_id) NOT GLOB '*@*'
BEGIN
  SELECT raise(ABORT, 'the System user is of no organization');
END;

CREATE TRIGGER `organization_users_stay_people` BEFORE UPDATE OF user_id ON `organization_users`
WHEN (SELECT email FROM users WHERE id = new.user_id) NOT GLOB '*@*'
BEGIN
  SELECT raise(ABORT, 'the System user is of no organization');
END;
