import { expect, it } from "vitest";
import { SCOPES } from "../../../src/database/enums.ts";
import { isWithin } from "../../../src/organization/api_clients/api_clients.policy.ts";

type Limits = Parameters<typeof isWithin>[0];

const ALL: Limits = { scopes: null, expires_at: null };

it.each<[Limits, Limits, boolean]>([
  [ALL, ALL, true],
  [ALL, { scopes: [...SCOPES], expires_at: 1 }, true],
  [{ ...ALL, scopes: [...SCOPES] }, ALL, true],
  [
    { ...ALL, scopes: SCOPES.filter((scope) => !scope.endsWith(":read") || scope === "audit:read") },
    ALL,
    true,
  ],
  [{ ...ALL, scopes: SCOPES.slice(0, -1) }, ALL, false],
  [{ ...ALL, scopes: ["calls:write"] }, { ...ALL, scopes: ["calls:read"] }, true],
  [{ ...ALL, scopes: ["calls:read"] }, { ...ALL, scopes: ["calls:write"] }, false],
  [{ ...ALL, scopes: ["calls:read"] }, { ...ALL, scopes: ["calls:read", "sign_in"] }, false],
  [{ ...ALL, expires_at: 5 }, { ...ALL, expires_at: 5 }, true],
  [{ ...ALL, expires_at: 5 }, { ...ALL, expires_at: 6 }, false],
  [{ ...ALL, expires_at: 5 }, ALL, false],
])("isWithin(%j, %j) is %s", (own, given, is) => {
  expect(isWithin(own, given)).toBe(is);
});
