import { expect, it } from "vitest";
import { SCOPES, type Scope } from "../../../src/database/enums.ts";
import { HOUR } from "../../../src/units.ts";
import { storedRows } from "../support/database.ts";
import { letAge } from "../support/invites.ts";
import { usersOf } from "../support/members.ts";
import { anInvite, anOrganization, given, type Organization } from "../support/organization.ts";

const IN_AN_HOUR = new Date(Date.now() + HOUR).toISOString();

/** Clients of an administrator. The model compares what clients of other roles, or without a route's scope, may do. */
const CLIENTS: [string, { scopes: readonly Scope[] | null; expires_at: string | null }][] = [
  ["without limits", { scopes: null, expires_at: null }],
  ["with all scopes", { scopes: SCOPES, expires_at: null }],
  ["with all scopes but one", { scopes: SCOPES.filter((scope) => scope !== "sign_in"), expires_at: null }],
  ["that expires", { scopes: null, expires_at: IN_AN_HOUR }],
];

const ADMIN = ["organization_admin"];

const inviteAs = (...role_names: string[]) => ({ organization_invite: anInvite({ role_names }) });
const manyAs = (...role_names: string[]) => ({ organization_invites: [anInvite({ role_names })] });
const member = (organization_user: object) => ({ organization_user });
const endpoint = (more: object) => ({ webhook_endpoint: { url: "https://new.example.com", ...more } });

/** Each way to give rights: its route and body, the limits that a client must not have. */
const WAYS: [route: string, body: object, without: string][] = [
  ["POST /api_clients", {}, ""],
  ["POST /api_clients", { scopes: null }, "scopes"],
  ["POST /api_clients", { expires_at: null }, "expires_at"],
  ["POST /api_clients", { expires_at: "2126-01-01T00:00Z" }, "expires_at"],
  ["POST /invites", inviteAs("provider_assistant"), ""],
  ["POST /invites", inviteAs("provider"), ""],
  ["POST /invites", inviteAs("provider", ...ADMIN), "scopes expires_at"],
  ["POST /invites/bulk_create", manyAs("provider"), ""],
  ["POST /invites/bulk_create", manyAs(...ADMIN), "scopes expires_at"],
  ["POST /invites/:providers/resend", {}, ""],
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

async function rightsIn(clinic: Organization) {
  const isAdmin = ({ roles }: Record<string, unknown>) => String(roles).includes("organization_admin");
  const endpoints = (await storedRows(clinic, "webhook_endpoints")).map(({ url, secret }) => [url, secret]);
  const admins = [...(await usersOf(clinic)), ...(await storedRows(clinic, "invites"))].filter(isAdmin);
  return { admins, endpoints };
}

it.each(CLIENTS)(
  "An administrator's client %s gives at most its own rights, for at most as long",
  async (_, limits) => {
    const { scopes, expires_at } = limits;
    const clinic = await anOrganization();
    const self = await clinic.addUser("Cleo Client", ADMIN);
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
    const withIds = (text: string) =>
      text.replace(/"?:([a-z]+)"?/g, (found, name) => (name in things ? String(things[name]?.id) : found));
    for (const [route, more, without] of WAYS) {
      const api_client = { name: "New", organization_user_id: things.bea?.id, ...limits, ...more };
      const [method = "", path = ""] = route.split(" ");
      const body = path === "/api_clients" ? { api_client } : JSON.parse(withIds(JSON.stringify(more)));
      const { status, headers } = await send(method, withIds(path), body);
      const isBeyond = without.split(" ").some((limit) => has[limit as keyof typeof has]);
      const answer = [route, more, headers.get("Error-Code"), status < 300];
      expect(answer).toEqual([route, more, isBeyond ? "beyond_own_rights" : null, !isBeyond]);
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
