import { randomUUID } from "node:crypto";
import { caller, platformCaller } from "./callers.ts";

/** Creates an organization with one user, and an API client that acts as this user. */
export async function anOrganization(
  url: string,
  {
    name = "Hillside Clinic",
    role = "organization_admin",
    region,
  }: Partial<Record<"name" | "role" | "region", string>> = {},
) {
  const platform = platformCaller(url);
  const create = async (path: string, body: object) => {
    const made = await platform("POST", path, body);
    if (made.status !== 201)
      throw new Error(`POST ${path} answered ${made.status} ${JSON.stringify(made.body)}`);
    return made.body;
  };
  const organization = await create("/organizations", { organization: { name, region } });
  const base = `/organizations/${organization.id}`;
  const addUser = (who: string, role: string) =>
    create(`${base}/users`, {
      user: { email: `${who}-${randomUUID()}@hillside.example`, display_name: who, roles: [role] },
    });
  const user = await addUser("ada", role);
  const addClient = async () => {
    const api_client = { name: "Integration", organization_user_id: user.id };
    const client = await create(`${base}/api_clients`, { api_client });
    const credentials = { "X-Client-ID": client.client_id, "X-Client-Secret": client.client_secret };
    return { credentials, external: caller(`${url}/api/external`, credentials) };
  };
  const { credentials, external } = await addClient();
  return { organization, base, user, addUser, addClient, credentials, platform, external };
}
