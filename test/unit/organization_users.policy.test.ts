import { describe, expect, it } from "vitest";
import { ROLES, type Role } from "../../src/database/enums.ts";
import {
  formerMember,
  type Member,
} from "../../src/resources/organization_users/organization_users.merge.ts";
import {
  requireAdministrator,
  requireAdministratorStays,
} from "../../src/resources/organization_users/organization_users.policy.ts";
import { assignableRoles } from "../../src/resources/roles/roles.policy.ts";
import { refusalOf } from "./support/merging.ts";

const ADMIN: Role[] = ["organization_admin"];

const caller = { organization_id: 1, organization_user_id: 11 };

const olga: Member = {
  id: 11,
  organization_id: 1,
  email: "olga@example.com",
  display_name: "Olga",
  roles: ADMIN,
  assists: [],
  created_at: 1,
  updated_at: 2,
};

const others: Role[][] = [["provider_assistant"], ["provider"], ["provider_assistant", "provider"]];

describe("Who changes members", () => {
  it("has the highest role: there is none that they could not assign", () => {
    expect(assignableRoles(ADMIN)).toEqual(ROLES);
  });

  it("is an organization_admin as D1 knows it, whatever an isolate knows", () => {
    for (const roles of others)
      expect(() => requireAdministrator(caller, { roles })).toThrow("Organization user not found");
    for (const author of [undefined, { roles: [] }])
      expect(() => requireAdministrator(caller, author)).toThrow("Invalid client credentials");
    for (const roles of [["provider"], ...others] as Role[][])
      requireAdministrator(caller, { roles: [...roles, "organization_admin"] });
  });

  it("stays one", () => {
    for (const roles of others)
      expect(refusalOf(() => requireAdministratorStays(caller, olga, { ...olga, roles }))).toMatch(
        /^organization_user\.roles: must include organization_admin/,
      );
    expect(refusalOf(() => requireAdministratorStays(caller, olga, formerMember(olga, 3)))).toMatch(
      /^Your client acts as this organization user/,
    );
    requireAdministratorStays(caller, olga, { ...olga, roles: ["provider", "organization_admin"] });
    requireAdministratorStays(caller, { id: 12 }, { ...olga, roles: ["provider"] });
    requireAdministratorStays(caller, { id: 12 }, formerMember(olga, 3));
  });
});
