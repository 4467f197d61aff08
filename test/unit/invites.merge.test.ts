import { describe, expect, it } from "vitest";
import { newInvite, renewInvite } from "../../src/resources/invites/invites.merge.ts";

const NOW = Date.parse("2026-01-31T09:30:00.000Z");
const DAY = 86_400_000;

const input = { email: "ivy@example.com", display_name: "Ivy Invitee", role_names: ["provider" as const] };

const known = {
  organization_id: 1,
  settings: { INVITE_VALIDITY_DAYS: 3 },
  mailer: null,
  user_id: 33,
  hasAccount: false,
  pending_until: null,
  isFull: false,
};

describe("A new invite", () => {
  it("has what the request says, and expires after the operator's number of days", () => {
    expect(newInvite(known, input, NOW)).toEqual({
      organization_id: 1,
      email: "ivy@example.com",
      display_name: "Ivy Invitee",
      roles: ["provider"],
      expires_at: NOW + 3 * DAY,
      created_at: NOW,
      updated_at: NOW,
      created_by_user_id: 33,
      mail_status: "off",
      next_mail_at: null,
      mail_attempts: 0,
      mail_leases: 0,
    });
  });

  it.each([
    ["an active one until its last moment", NOW + 1, "has a pending invite"],
    ["one that expires now", NOW, "has an invite that expired on 2026-01-31T09:30:00.000Z"],
    ["one that expired long ago", NOW - 400 * DAY, "has an invite that expired on 2024-12-27T09:30:00.000Z"],
  ])("is refused beside a pending one of the email: %s", (_, pending_until, fault) => {
    const instead = "send it again with POST /invites/{id}/resend, or delete it to make another one";
    const message = `organization_invite.email: ${fault}: ${instead}`;
    expect(() => newInvite({ ...known, pending_until }, input, NOW)).toThrow(message);
  });

  it("is refused for an email with an account, whether or not it has a pending one too", () => {
    for (const pending_until of [null, NOW + DAY, NOW - DAY])
      expect(() => newInvite({ ...known, hasAccount: true, pending_until }, input, NOW)).toThrow(
        "organization_invite.email: has an account in the organization",
      );
  });

  it("is refused where the organization has all that it can have", () => {
    expect(() => newInvite({ ...known, isFull: true }, input, NOW)).toThrow(
      "The organization has 10000 unused invites, which is the most that it can have",
    );
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
    mail_leases: 2,
  };
  const by = { roles: ["provider" as const], settings: known.settings };
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
