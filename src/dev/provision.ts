import * as z from "zod";
import { isLoopback } from "../http/loopback.ts";
import { createApiClientBody } from "../resources/api_clients/api_clients.schemas.ts";
import { createUserBody } from "../resources/organization_users/organization_users.schemas.ts";
import { createOrganizationBody } from "../resources/organizations/organizations.schemas.ts";
import { runCommand, UsageError, type Values } from "./command.ts";
import { platformClient } from "./platform_client.ts";

const USAGE = `
Usage: npm run provision -- --name NAME --slug SLUG --email EMAIL --display-name NAME

  --name NAME              the organization's name
  --slug SLUG              begins the names of its waiting rooms in links, for good: a-z, 0-9 and -
  --email EMAIL            of its first administrator, as the identity provider knows them
  --display-name NAME      of its first administrator
  --client-name NAME       of the API client; "Integration" if left out
  --url URL                where the service is; http://localhost:8787 if left out

To continue after a failure, add to the same command what was made already:
  --organization ID        the organization; then --name and --slug are not used
  --organization-user ID   its administrator; then --email and --display-name are not used

The platform's token comes from the environment variable PLATFORM_API_TOKEN; on this machine also from .dev.vars. It is
no argument, because shells keep what is typed.
`;

const OPTIONS = {
  name: { type: "string" },
  slug: { type: "string" },
  email: { type: "string" },
  "display-name": { type: "string" },
  "client-name": { type: "string", default: "Integration" },
  url: { type: "string", default: "http://localhost:8787" },
  organization: { type: "string" },
  "organization-user": { type: "string" },
} as const;

type Arguments = Values<typeof OPTIONS>;

/**
 * Runs the command.
 *
 * @returns its exit code
 */
export const provision = (args: string[]): Promise<number> => runCommand(USAGE, OPTIONS, makeAll, args);

async function makeAll(options: Arguments) {
  const url = requireUrl(options.url);
  const bodies = requireBodies(options);
  const api = platformClient(url);
  const made: string[] = [];
  const make = async (flag: string, path: string, body: object) => {
    const { id } = await api.post<{ id: number }>(path, body, SLUG_TAKEN);
    made.push(`--${flag} ${id}`);
    return String(id);
  };
  try {
    const organization =
      options.organization ?? (await make("organization", "/organizations", bodies.organization));
    const path = `/organizations/${organization}`;
    const administrator =
      options["organization-user"] ?? (await make("organization-user", `${path}/users`, bodies.user));
    const client = await api.post<Credentials>(`${path}/api_clients`, {
      api_client: { name: options["client-name"], organization_user_id: Number(administrator) },
    });
    printCredentials(url, organization, administrator, client);
  } catch (error) {
    if (made.length === 0) throw error;
    const advice = `To continue, run the same command again, and add to it: ${made.join(" ")}`;
    throw new Error(`${(error as Error).message}\n${advice}`, { cause: error });
  }
}

function requireUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== "/" || url.search || url.username)
    throw new UsageError(`--url: ${text} must be the service's address, such as https://visits.example.com`);
  if (url.protocol === "http:" && !isLoopback(url.hostname))
    throw new UsageError("--url: must be https, because the token and the new secret go over the network");
  return url.origin;
}

/** The bodies to send, checked as the service will check them: a fault in the last one must not come after two requests. */
function requireBodies(options: Arguments) {
  const { organization, "organization-user": user } = options;
  if (user !== undefined && organization === undefined)
    throw new UsageError("--organization-user: needs --organization too");
  const id = z.string().regex(/^[1-9]\d{0,14}$/, "must be an id, such as 12");
  const faults = [
    ...flagFaults(id.optional(), organization, "organization"),
    ...flagFaults(id.optional(), user, "organization-user"),
  ];
  const bodies = {
    organization: { organization: { name: options.name, slug: options.slug } },
    user: {
      user: { email: options.email, display_name: options["display-name"], roles: ["organization_admin"] },
    },
  };
  if (!organization) faults.push(...flagFaults(createOrganizationBody(), bodies.organization));
  // The service could make one from the name. But a command that is repeated would make a second organization then.
  if (!organization && options.slug === undefined) faults.push("--slug: is required");
  if (!user) faults.push(...flagFaults(createUserBody(), bodies.user));
  const client = { api_client: { name: options["client-name"], organization_user_id: 1 } };
  faults.push(...flagFaults(createApiClientBody(), client, "client-name"));
  if (faults.length > 0) throw new UsageError(faults.join("\n"));
  return bodies;
}

/** Each as `--flag: what is wrong`. The flags have the names of the fields, unless another is given. */
function flagFaults(schema: z.ZodType, value: unknown, flag?: string): string[] {
  const { error } = schema.safeParse(value);
  return (error?.issues ?? []).map(({ path, message, code }) => {
    const isMissing = code === "invalid_type" && message.endsWith("received undefined");
    const name = flag ?? String(path.at(-1)).replaceAll("_", "-");
    return `--${name}: ${isMissing ? "is required" : message}`;
  });
}

/** What to say instead of the service's own text. */
const SLUG_TAKEN = {
  "organization.slug: is taken; choose another one, or leave it out":
    "--slug: is taken by another organization. If an earlier run made it, add --organization and its id: `GET /api/platform/organizations` lists the ids.",
};

interface Credentials {
  client_id: string;
  client_secret: string;
}

function printCredentials(
  url: string,
  organization: string,
  administrator: string,
  { client_id, client_secret }: Credentials,
) {
  // In PowerShell, `curl` alone can be another command.
  const curl = process.platform === "win32" ? "curl.exe" : "curl";
  process.stdout.write(`
Organization ${organization} has the administrator ${administrator} (organization user) and an API client:
header = "X-Client-ID: ${client_id}"
header = "X-Client-Secret: ${client_secret}"
Keep the secret now: the service stores only its digest, and nothing shows it again.

The first request: put the two lines that begin with "header" into a file that only you can read, client.curl, then
  ${curl} -K client.curl ${url}/api/external/organization_users

`);
}

if (import.meta.main) process.exitCode = await provision(process.argv.slice(2));
