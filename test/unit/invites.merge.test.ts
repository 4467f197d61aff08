import { describe, expect, it } from "vitest";
import { renewInvite } from "../../src/resources/invites/invites.merge.ts";

const NOW = Date.parse("2026-01-31T09:30:00.000Z");
const DAY = 86_400_000;

const settings = { INVITE_VALIDITY_DAYS: 3 };

describe("An invite that is sent again", () => {
  const sent = {
    id: 81,
    roles: ["provider" as const],
    expires_at: NOW + DAY,
    used_at: null,
    created_at: NOW - 60_000,
    updated_at: NOW - 60_000,
    resent_at: null,
    mail_status: "failed" as const,
    next_mail_at: null,
    mail_attempts: 7,
    mail_leases: 2,
  };
  const by = { roles: ["provider" as const], settings };
  const mailer = { from: "invites@clinic.test", provider: {} as SendEmail };

  it("has a new expiry, and its mail is due as that of a new one", () => {
    const renewed = { ...sent, expires_at: NOW + 3 * DAY, updated_at: NOW, resent_at: NOW };
    const fresh = { mail_attempts: 0, mail_leases: 0 };
    expect(renewInvite(sent, { ...by, mailer }, NOW)).toEqual({
      ...renewed,
      ...fresh,
      mail_status: "queued",
      next_mail_at: NOW,
    });
    expect(renewInvite(sent, { ...by, mailer: null }, NOW)).toEqual({
      ...renewed,
      ...fresh,
      mail_status: "off",
    });
  });

  it("was created or sent again at least a minute before", () => {
    const early = (known: object) => () => renewInvite({ ...sent, ...known }, { ...by, mailer }, NOW);
    expect(early({ created_at: NOW - 59_999 })).toThrow("less than 60 seconds ago");
    expect(early({ resent_at: NOW - 59_999 })).toThrow("less than 60 seconds ago");
    expect(early({ resent_at: NOW - 60_000 })).not.toThrow();
  });
});
