import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import costs from "../../../src/docs/costs.md?raw";
import {
  MAX_CALL_PARTICIPANTS,
  MAX_DAILY_ACCESS_LOGS,
  MAX_DAILY_RESERVED,
  MAX_DAILY_SIGN_INS,
  MAX_DAILY_WRITES,
  MAX_WEBHOOK_ENDPOINTS,
} from "../../../src/limits.ts";
import { aCall, aRecipient } from "../support/calls.ts";
import { storedRows } from "../support/database.ts";
import { anIdentityProvider } from "../support/identity_provider.ts";
import { anInvite, anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { externalExamples } from "../support/routes.ts";

/*
 * The clients of an organization can store in a day the sum of their daily limits, each times the bytes of one write. The bytes are the
 * growth of the database, with indexes, events, and their deliveries to as many endpoints as an organization can have.
 */

const LIMITS = {
  writes: MAX_DAILY_WRITES,
  access_log_entries: MAX_DAILY_ACCESS_LOGS,
  sign_ins: MAX_DAILY_SIGN_INS,
  reserved: MAX_DAILY_RESERVED,
};

type Limit = keyof typeof LIMITS;

const ORGANIZATIONS = 2;
const REQUESTS = 8;

const LONGEST = "🩺".repeat(255);

interface Example {
  path: string;
  body?: object | undefined;
}

type Examples = Record<string, (organization: Organization) => Promise<Example>>;

const LARGEST: Examples = {
  "POST /waiting_rooms": async () => ({
    path: "/waiting_rooms",
    body: { waiting_room: { name: unique(LONGEST.slice(0, 400)), is_active: true } },
  }),
  "POST /visits": async (clinic) => {
    const participant = { role: "recipient", display_name: LONGEST, external_reference: LONGEST };
    const visit = {
      waiting_room_slug: (await clinic.addRoom()).slug,
      starts_at: new Date(Date.now() + 86_400_000).toISOString(),
      external_reference: LONGEST,
      participants: Array(20).fill(participant),
    };
    return { path: "/visits", body: { visit } };
  },
  "POST /invites/bulk_create": async () => ({
    path: "/invites/bulk_create",
    body: { organization_invites: Array.from({ length: 30 }, () => anInvite()) },
  }),
  "PUT /soap_note": async (clinic) => {
    const call = await aCall(clinic);
    await call.reportSoapNote({ text: "x".repeat(100_000) });
    return {
      path: `${call.path}/soap_note`,
      body: { soap_note: { text: "Well.", reason: "🩺".repeat(500) } },
    };
  },
  "GET /participants": async (clinic) => {
    const participants = Array.from({ length: MAX_CALL_PARTICIPANTS }, () => aRecipient());
    return { path: `${(await aCall(clinic, { participants })).path}/participants` };
  },
  "POST /auth/token_exchange": async (clinic) => {
    const [{ email }, provider] = [await clinic.addProvider(), await anIdentityProvider()];
    await provider.register(clinic);
    const token = await provider.token({ email });
    return { path: "/auth/token_exchange", body: { token_exchange: { token } } };
  },
  "PUT /legal_hold": async (clinic) => ({
    path: `${(await aCall(clinic)).path}/legal_hold`,
    body: { legal_hold: { reason: "🩺".repeat(1000) } },
  }),
};

const size = async () => (await env.DB.prepare("select 1").run()).meta.size_after;

type Counts = Record<Limit, number>;

/** The count of each limit, of all these organizations together. */
async function countsOf(organizations: Organization[]): Promise<Counts> {
  const counts: Counts = { writes: 0, access_log_entries: 0, sign_ins: 0, reserved: 0 };
  for (const organization of organizations)
    for (const day of await storedRows(organization, "organization_days"))
      if (day.api_client_id === 0)
        for (const name of Object.keys(counts) as Limit[]) counts[name] += Number(day[name]);
  return counts;
}

async function withEndpoints(count: number) {
  const organization = await anOrganization();
  for (let n = 0; n < count; n++)
    await given(
      organization.client.post("/webhook_endpoints", {
        webhook_endpoint: { url: `https://${unique("hooks")}.example.com` },
      }),
    );
  return organization;
}

/** The bytes of a request for each time that it counts, and the limit towards which it counts. */
async function bytesOf(route: string, example: Examples[string]): Promise<[Limit, number] | undefined> {
  const [method = ""] = route.split(" ");
  const endpoints = route.includes("/webhook_endpoints") ? 0 : MAX_WEBHOOK_ENDPOINTS;
  const requests: [Organization, Example][] = [];
  for (let n = 0; n < ORGANIZATIONS; n++) {
    const organization = await withEndpoints(endpoints);
    for (let m = 0; m < REQUESTS; m++) requests.push([organization, await example(organization)]);
  }
  const organizations = [...new Set(requests.map(([organization]) => organization))];
  const [before, sizeBefore] = [await countsOf(organizations), await size()];
  for (const [{ client }, { path, body }] of requests) {
    const headers = { "X-Acting-User": "x".repeat(64), "X-Purpose-Of-Use": "HOPERAT" };
    await client.send(method, path, body, headers);
  }
  const bytes = (await size()) - sizeBefore;
  const after = await countsOf(organizations);
  for (const name of ["writes", "sign_ins", "reserved", "access_log_entries"] as const)
    if (after[name] > before[name]) return [name, bytes / (after[name] - before[name])];
  return undefined;
}

/** The row of a limit in src/docs/costs.md: the limit, the bytes of one, and the megabytes of a day. */
function documented(limit: Limit): { most: number; bytes: number; megabytes: number } {
  const row = costs.match(
    new RegExp(`\\| \`${limit}\` \\|[^|]*\\| ([\\d,]+) \\| ([\\d,]+) \\| ([\\d,]+) \\|`),
  );
  const [most = 0, bytes = 0, megabytes = 0] = (row ?? [])
    .slice(1)
    .map((text) => Number(text.replaceAll(",", "")));
  return { most, bytes, megabytes };
}

describe("What an organization can store in a day", () => {
  it("is in src/docs/costs.md, as the sum of its limits", () => {
    const rows = Object.keys(LIMITS).map((limit) => documented(limit as Limit));
    expect(rows.map(({ most }) => most)).toEqual(Object.values(LIMITS));
    for (const { most, bytes, megabytes } of rows) expect(megabytes).toBe((most * bytes) / 1_000_000);
    const total = rows.reduce((sum, { megabytes }) => sum + megabytes, 0);
    expect(costs).toContain(`**${total.toLocaleString("en-US")} MB**`);
  });

  it.each([
    ...Object.entries(externalExamples),
    ...Object.entries(LARGEST).map(([route, example]) => [`${route} of the largest size`, example] as const),
  ])("is not exceeded by %s", async (route, example) => {
    const measured = await bytesOf(route, example);
    if (!measured) return;
    const [limit, bytes] = measured;
    expect(bytes).toBeLessThanOrEqual(documented(limit).bytes);
  });
});
