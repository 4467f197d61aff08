-- The service must not become a relay for others' mails, so the mails of an organization and UTC day are bounded, also those to one
-- address. What goes beyond is refused with these texts (resources/usage/usage.refusals.ts), and limits.ts has the numbers too.

CREATE TRIGGER `mails_bounded` BEFORE UPDATE OF mails ON `organization_days` WHEN new.mails > 2000
BEGIN
  SELECT raise(ABORT, 'quota: mails');
END;

CREATE TRIGGER `mails_to_address_bounded` BEFORE UPDATE OF count ON `mailed_addresses` WHEN new.count > 3
BEGIN
  SELECT raise(ABORT, 'quota: address');
END;
