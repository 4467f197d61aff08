import { describe, expect, it } from "vitest";
import { newInvite } from "../../src/resources/invites/invites.merge.ts";

const NOW = Date.parse("2026-01-31T09:30:00.000Z");
const DAY = 86_400_000;

const input = { email: "ivy@example.com", display_name: "Ivy Invitee", role_names: ["provider" as const] };

const known = {
  organization_id: 1,
  settings: { INVITE_VALIDITY_DAYS: 3 },
  account: undefined,
  pending: undefined,
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
    });
  });

  it.each([
    ["an active one until its last moment", NOW + 1, "has a pending invite"],
    ["one that expires now", NOW, "has an invite that expired on 2026-01-31T09:30:00.000Z"],
    ["one that expired long ago", NOW - 400 * DAY, "has an invite that expired on 2024-12-27T09:30:00.000Z"],
  ])("is refused beside a pending one of the email: %s", (_, expires_at, fault) => {
    const message = `organization_invite.email: ${fault}; to send another one, delete it first`;
    expect(() => newInvite({ ...known, pending: { expires_at } }, input, NOW)).toThrow(message);
  });

  it("is refused for an email with an account, whether or not it has a pending one too", () => {
    const account = { id: 12 };
    for (const pending of [undefined, { expires_at: NOW + DAY }, { expires_at: NOW - DAY }])
      expect(() => newInvite({ ...known, account, pending }, input, NOW)).toThrow(
        "organization_invite.email: has an account in the organization",
      );
  });
});
