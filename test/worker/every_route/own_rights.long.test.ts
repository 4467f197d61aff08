import { expect, it } from "vitest";
import { ROLES, SCOPES, type Scope } from "../../../src/database/enums.ts";
import { HOUR } from "../../../src/units.ts";
import { storedRows } from "../support/database.ts";
import { letAge } from "../support/invites.ts";
import { usersOf } from "../support/members.ts";
import { anInvite, anOrganization, given, type Organization } from "../support/organization.ts";

const SCOPE_LISTS: (readonly Scope[] | null)[] = [
  null,
  SCOPES,
  ...SCOPES.map((scope) => [scope]),
  ...SCOPES.map((scope) =>
    SCOPES.filter((other) => other !== scope && other !== scope.replace("read", "write")),
  ),
];

const IN_AN_HOUR = new Date(Date.now() + HOUR).toISOString();

const CLIENTS = ROLES.flatMap((role) =>
  SCOPE_LISTS.flatMap((scopes) => [null, IN_AN_HOUR].map((expires_at) => ({ role, scopes, expires_at }))),
);

const ADMIN = ["organization_admin"];
const ANY_LEVEL = [...ROLES];
const FROM_PROVIDER = ["provider", ...ADMIN];

const inviteAs = (...role_names: string[]) => ({ organization_invite: anInvite({ role_names }) });
const manyAs = (...role_names: string[]) => ({ organization_invites: [anInvite({ role_names })] });
const member = (organization_user: object) => ({ organization_user });
const endpoint = (more: object) => ({ webhook_endpoint: { url: "https://new.example.com", ...more } });

/** Each way to give rights: its route and body, the limits that a client must not have, and the roles that may. */
const WAYS: [route: string, body: object, without: string, roles?: string[]][] = [
  ["POST /api_clients", {}, ""],
  ["POST /api_clients", { scopes: null }, "scopes"],
  ["POST /api_clients", { expires_at: null }, "expires_at"],
  ["POST /api_clients", { expires_at: "2126-01-01T00:00Z" }, "expires_at"],
  ["POST /invites", inviteAs("provider_assistant"), "", ANY_LEVEL],
  ["POST /invites", inviteAs("provider"), "", FROM_PROVIDER],
  ["POST /invites", inviteAs("provider", ...ADMIN), "scopes expires_at"],
  ["POST /invites/bulk_create", manyAs("provider"), "", FROM_PROVIDER],
  ["POST /invites/bulk_create", manyAs(...ADMIN), "scopes expires_at"],
  ["POST /invites/:providers/resend", {}, "", FROM_PROVIDER],
  ["POST /invites/:admins/resend", {}, "scopes expires_at"],
  ["DELETE /invites/:admins", {}, "scopes expires_at"],
  ["PUT /organization_users/:bea", member({ email: "taken.over@example.com" }), "scopes expires_at"],
  ["PUT /organization_users/:bea", member({ roles: ["provider"] }), "scopes expires_at"],
  ["PUT /organization_users/:self", member({ display_name: "New" }), "scopes expires_at"],
  ["PUT /organization_users/:self", member({ roles: ADMIN }), ""],
  ["PUT /organization_users/:annie", member({ assists: [":paula"] }), ""],
  ["PUT /organization_users/:paula", member({ email: "moved@example.com" }), ""],
  ["PUT /organization_users/:paula", member({ roles: ADMIN }), "scopes expires_at"],
  ["PUT /organization_users/:annie", member({ roles: ["provider", ...ADMIN] }), "scopes expires_at"],
  ["PUT /organization_users/:self", member({ assists: [] }), ""],
  ["DELETE /organization_users/:bea?revoke_api_clients=true", {}, "scopes expires_at"],
  ["POST /webhook_endpoints", endpoint({}), "expires_at"],
  ["PUT /webhook_endpoints/:endpoint", endpoint({}), "expires_at"],
  ["POST /webhook_endpoints/:endpoint/rotate_secret", {}, "expires_at"],
  ["PUT /webhook_endpoints/:endpoint", { webhook_endpoint: { is_active: false } }, "expires_at"],
  ["PUT /webhook_endpoints/:endpoint", { webhook_endpoint: { is_active: true } }, "expires_at"],
];

const scopeOf = (route: string) => {
  const area = route.includes("/webhook_endpoints") ? "events" : "members";
  return `${route === "POST /api_clients" ? "organization" : area}:write` as Scope;
};

async function rightsIn(clinic: Organization) {
  const isAdmin = ({ roles }: Record<string, unknown>) => String(roles).includes("organization_admin");
  const endpoints = (await storedRows(clinic, "webhook_endpoints")).map(({ url, secret }) => [url, secret]);
  const admins = [...(await usersOf(clinic)), ...(await storedRows(clinic, "invites"))].filter(isAdmin);
  return { admins, endpoints };
}

it.each(CLIENTS)(
  "A client of a $role gives at most its own rights, for at most as long: $scopes, $expires_at",
  async ({ role, ...limits }) => {
    const { scopes, expires_at } = limits;
    const clinic = await anOrganization();
    const self = await clinic.addUser("Cleo Client", [role]);
    const { send } = await clinic.addClient(self.id, limits);
    const things: Record<string, { id: number }> = {
      self,
      bea: await clinic.addUser("Bea Boss", ADMIN),
      paula: await clinic.addProvider(),
      annie: await clinic.addUser("Annie Assistant", ["provider_assistant"]),
      admins: await clinic.addInvite({ role_names: ADMIN }),
      providers: await clinic.addInvite(),
      endpoint: await given(
        clinic.client.post("/webhook_endpoints", { webhook_endpoint: { url: "https://hooks.example.com" } }),
      ),
    };
    for (const invite of ["admins", "providers"]) await letAge(things[invite] ?? self);
    const has = { scopes: scopes !== null && scopes.length < SCOPES.length, expires_at: expires_at !== null };
    const before = await rightsIn(clinic);
    const codeFor = (route: string, without: string, roles: string[]) => {
      if (scopes && !scopes.includes(scopeOf(route))) return "missing_scope";
      if (!roles.includes(role)) return route.includes("invites") ? "role_above_level" : "missing_role";
      const isBeyond = without.split(" ").some((limit) => has[limit as keyof typeof has]);
      return isBeyond ? "beyond_own_rights" : null;
    };
    for (const [route, more, without, roles = ADMIN] of WAYS) {
      const api_client = { name: "New", organization_user_id: things.bea?.id, ...limits, ...more };
      const [method = "", path = ""] = route.split(" ");
      const withIds = (text: string) =>
        text.replace(/"?:([a-z]+)"?/g, (found, name) => (name in things ? String(things[name]?.id) : found));
      const body = JSON.parse(withIds(JSON.stringify(more)));
      const { status, headers } = await send(
        method,
        withIds(path),
        path === "/api_clients" ? { api_client } : body,
      );
      const code = codeFor(route, without, roles);
      expect([route, more, headers.get("Error-Code"), status < 300]).toEqual([
        route,
        more,
        code,
        code === null,
      ]);
    }
    const after = await rightsIn(clinic);
    if (has.scopes || has.expires_at) expect(after.admins).toEqual(before.admins);
    if (has.expires_at) expect(after.endpoints).toEqual(before.endpoints);
    for (const made of (await storedRows(clinic, "api_clients")).slice(2)) {
      if (expires_at) expect(made.expires_at).toBeLessThanOrEqual(Date.parse(expires_at));
      if (has.scopes) expect(scopes).toEqual(expect.arrayContaining(JSON.parse(String(made.scopes))));
    }
  },
);
