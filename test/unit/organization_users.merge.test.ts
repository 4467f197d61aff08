import { describe, expect, it } from "vitest";
import type { Role } from "../../src/database/enums.ts";
import {
  formerMember,
  joinMember,
  type Member,
  mergeMember,
  newMember,
} from "../../src/resources/organization_users/organization_users.merge.ts";
import { refusalOf } from "./support/merging.ts";

const NOW = 7;

const ANN = { organization_id: 1, email: "ann@example.com", display_name: "Ann" };

const member = (roles: Role[], assists: number[] = []): Member => ({
  ...ANN,
  id: 14,
  roles,
  assists,
  created_at: 1,
  updated_at: 2,
});

const assistant = member(["provider_assistant"], [12]);
const former = member([]);

const joining = { ...ANN, display_name: "Dr. Ann", roles: ["provider"] as Role[] };

describe("Somebody who joins", () => {
  it("is a new member, who assists nobody", () => {
    expect(joinMember(undefined, joining, NOW)).toEqual({
      ...joining,
      assists: [],
      created_at: NOW,
      updated_at: NOW,
    });
  });

  it("is the same member again after the membership had ended, with the new name and roles", () => {
    const { display_name, roles } = joining;
    expect(joinMember(former, joining, NOW)).toEqual({ ...former, display_name, roles, updated_at: NOW });
  });

  it("keeps the name and whom they assist, and gains the roles, if they are a member", () => {
    const roles = ["provider_assistant", "provider"];
    expect(joinMember(assistant, joining, NOW)).toEqual({ ...assistant, roles, updated_at: NOW });
  });
});

describe("A creation", () => {
  const input = { email: ANN.email, display_name: "Ann", roles: ["provider_assistant"] as Role[] };
  const nothingKnown = { organization_id: 1, member: undefined, providers: [] };

  it("is refused for a member, and not for somebody whose membership has ended", () => {
    expect(refusalOf(() => newMember({ ...nothingKnown, member: assistant }, input, NOW))).toMatch(
      /already; to change the user, use PUT/,
    );
    expect(newMember({ ...nothingKnown, member: former }, input, NOW)).toMatchObject({ id: former.id });
  });

  it("names providers to assist, in any order and each as often as it likes", () => {
    const providers = [{ id: 12 }, { id: 13 }];
    const created = newMember({ ...nothingKnown, providers }, { ...input, assists: [13, 12, 13] }, NOW);
    expect(created.assists).toEqual([12, 13]);
  });
});

describe("A change", () => {
  const change = (before: Member, input: Parameters<typeof mergeMember>[1], ...ids: number[]) =>
    mergeMember({ member: before, providers: ids.map((id) => ({ id })), field: "user" }, input, NOW);

  it("keeps what is left out", () => {
    expect(change(assistant, {})).toEqual({ ...assistant, updated_at: NOW });
    expect(change(assistant, { display_name: "Dr. Ann" })).toMatchObject({
      display_name: "Dr. Ann",
      roles: assistant.roles,
      assists: [12],
    });
  });

  it("leaves nobody assisted by one who is no provider_assistant any more", () => {
    expect(change(assistant, { roles: ["provider"] }).assists).toEqual([]);
  });

  it("may name who was assisted before, and beside them only providers", () => {
    expect(change(assistant, { assists: [13, 12] }, 13).assists).toEqual([12, 13]);
    expect(refusalOf(() => change(assistant, { assists: [12, 13] }))).toMatch(/must name providers/);
  });

  it("may name nobody to assist without the role provider_assistant, which an empty list does not", () => {
    const provider = member(["provider"]);
    expect(refusalOf(() => change(provider, { assists: [12] }, 12))).toMatch(/provider_assistant/);
    expect(refusalOf(() => change(assistant, { roles: ["provider"], assists: [12] }, 12))).toMatch(
      /provider_assistant/,
    );
    expect(change(provider, { assists: [] }).assists).toEqual([]);
  });
});

describe("The end of a membership", () => {
  it("leaves the member without roles, assisting nobody", () => {
    expect(formerMember(assistant, NOW)).toEqual({ ...assistant, roles: [], assists: [], updated_at: NOW });
  });
});
