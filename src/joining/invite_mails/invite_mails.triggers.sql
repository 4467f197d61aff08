-- The mails to one address are limited, so that the service cannot become a relay. usage.refusals.ts recognizes the error by its
-- text.
CREATE TRIGGER `mails_to_address_bounded` BEFORE UPDATE OF count ON `mailed_addresses` WHEN new.count > {{MAX_ADDRESS_MAILS}}
BEGIN
  SELECT raise(ABORT, 'quota: address');
END;
