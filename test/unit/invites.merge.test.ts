import { describe, expect, it } from "vitest";
import { afterFailedMail, renewInvite } from "../../src/resources/invites/invites.merge.ts";

const NOW = Date.parse("2026-01-31T09:30:00.000Z");
const DAY = 86_400_000;

const settings = { INVITE_VALIDITY_DAYS: 3 };

describe("A mail that the provider did not take", () => {
  const deferred = { state: "deferred", reason: "E_RATE_LIMIT_EXCEEDED" } as const;
  const expires_at = NOW + 3 * DAY;

  it("is tried again after a pause that doubles, up to six hours", () => {
    const pauses = Array.from({ length: 9 }, (_, mail_attempts) => {
      const next = afterFailedMail({ expires_at, mail_attempts }, deferred, NOW, 0);
      expect(next).toMatchObject({ mail_status: "queued", mail_attempts: mail_attempts + 1 });
      return ((next.next_mail_at ?? 0) - NOW) / 60_000;
    });
    expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 320, 360, 360]);
  });

  it("is given up where the invite would have expired, and after an error that does not pass", () => {
    const failed = { mail_status: "failed", next_mail_at: null, mail_attempts: 1 };
    const soon = { expires_at: NOW + 5 * 60_000, mail_attempts: 0 };
    expect(afterFailedMail(soon, deferred, NOW, 0)).toEqual(failed);
    expect(afterFailedMail({ ...soon, expires_at: soon.expires_at + 1 }, deferred, NOW, 0)).toMatchObject({
      mail_status: "queued",
    });
    const final = { state: "failed", reason: "E_VALIDATION_ERROR" } as const;
    expect(afterFailedMail({ expires_at, mail_attempts: 0 }, final, NOW)).toEqual(failed);
  });
});

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
    mail_claims: 2,
  };
  const by = { roles: ["provider" as const], settings };
  const mailer = { from: "invites@clinic.test", provider: {} as SendEmail };

  it("has a new expiry, and its mail is due as that of a new one", () => {
    const renewed = { ...sent, expires_at: NOW + 3 * DAY, updated_at: NOW, resent_at: NOW };
    const fresh = { mail_attempts: 0, mail_claims: 0 };
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
