import { describe, expect, it } from "vitest";
import { newInvite } from "../../src/resources/invites/invites.merge.ts";

const NOW = Date.parse("2026-01-31T09:30:00.000Z");
const DAY = 86_400_000;

const input = { email: "ivy@example.com", display_name: "Ivy Invitee", role_names: ["provider" as const] };

const known = {
  organization_id: 1,
  settings: { INVITE_VALIDITY_DAYS: 3 },
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
    });
  });

  it.each([
    ["an active one until its last moment", NOW + 1, "has a pending invite"],
    ["one that expires now", NOW, "has an invite that expired on 2026-01-31T09:30:00.000Z"],
    ["one that expired long ago", NOW - 400 * DAY, "has an invite that expired on 2024-12-27T09:30:00.000Z"],
  ])("is refused beside a pending one of the email: %s", (_, pending_until, fault) => {
    const message = `organization_invite.email: ${fault}; to send another one, delete it first`;
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
