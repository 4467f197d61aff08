import { beforeAll, describe, expect, it } from "vitest";
import { type Api, platform } from "./support/api.ts";
import { aCall, aProviderOnTheCall, aRecipient, WAITING_SINCE } from "./support/calls.ts";
import { documents } from "./support/contract.ts";
import { anInvite, anOrganization, given, type Organization, unique } from "./support/organization.ts";
import { aQueue, workerWith } from "./support/queue.ts";
import { aSealedDay } from "./support/seals.ts";

const EXTERNAL = "/api/external";
const PLATFORM = "/api/platform";

/** What two organizations may have in common, so that only the organization tells their rows apart. */
function aSharedWorld() {
  const email = () => `${unique("person")}@example.com`;
  return {
    emails: { provider: email(), substitute: email(), assistant: email(), invitee: email(), bulk: email() },
    keys: {
      provider: unique("key"),
      recipient: unique("key"),
      waiting: unique("key"),
      egress: unique("key"),
    },
  };
}

type World = ReturnType<typeof aSharedWorld>;

/** An organization that has rows in every list. Its name is in all its texts. */
async function aBusyClinic(name: string, { emails, keys }: World) {
  const clinic = await anOrganization(name, unique(name.toLowerCase()));
  await aSealedDay(clinic);
  const provider = await clinic.addProvider(`Paula ${name}`, { email: emails.provider });
  const substitute = await clinic.addProvider(`Sam ${name}`, { email: emails.substitute });
  const assistant = await clinic.addUser(`Ann ${name}`, ["provider_assistant"], {
    email: emails.assistant,
    assists: [provider.id],
  });
  const room = await clinic.addRoom({ name: `Cardiology ${name}` });
  for (const slug of [room.slug, provider.waiting_room_slug])
    await clinic.addSub(slug, { user_id: substitute.user_id, datetime_start: "2126-01-31T09:30:00Z" });
  await clinic.addParticipant(room.slug, { display_name: `Wendy ${name}` }, keys.waiting);
  await clinic.addParticipant(provider.waiting_room_slug, { display_name: `Will ${name}` });
  const participants = [
    aProviderOnTheCall({ display_name: `Paula ${name}`, key: keys.provider, user_id: provider.user_id }),
    aRecipient({
      display_name: `Rita ${name}`,
      key: keys.recipient,
      waiting_since: WAITING_SINCE,
      external_reference: "patient-1",
    }),
  ];
  const call = await aCall(clinic, { participants, external_reference: "visit-1" }, provider);
  const lines = [
    { participant_key: keys.recipient, text: `Welcome to ${name}.`, start_time: 0, end_time: 1 },
  ];
  await given(call.reportTranscript({ summary: "A greeting.", is_final: true, lines }));
  const egress = await call.addEgress({}, keys.egress);
  await given(clinic.client.get(`${call.path}/egresses/${egress.id}`));
  await clinic.addInvite({ display_name: `Ivy ${name}`, email: emails.invitee });
  const url = `https://hooks.example.com/${name.toLowerCase()}`;
  const webhook_endpoint = await given(
    clinic.client.post("/webhook_endpoints", { webhook_endpoint: { url } }),
  );
  await clinic.addUser(`Zoe ${name}`, ["provider"]);
  const bulk = await aBulkInvite(clinic, [emails.invitee, emails.bulk, emails.bulk]);
  const clients = [clinic.client, await clinic.addClient(assistant.id)];
  const api_client = { name: `Scheduling of ${name}`, organization_user_id: provider.id };
  await given(platform.post(`/organizations/${clinic.id}/api_clients`, { api_client }));
  const issuer = { issuer: "https://idp.test", audience: name, jwks_url: "https://idp.test/jwks" };
  await given(platform.post(`/organizations/${clinic.id}/issuers`, { issuer }));
  return { ...clinic, clients, provider, substitute, assistant, room, call, egress, bulk, webhook_endpoint };
}

async function aBulkInvite({ client }: Organization, emails: string[]) {
  const queue = aQueue();
  const { fetcher, consume } = workerWith({ BULK_INVITES: queue.binding });
  const organization_invites = emails.map((email) => anInvite({ email }));
  const asked = client.through(fetcher).post("/invites/bulk_create", { organization_invites });
  const { bulk_invite } = await given(asked);
  await consume(queue.take(bulk_invite));
  return bulk_invite as { id: number };
}

type Clinic = Awaited<ReturnType<typeof aBusyClinic>>;

interface List {
  /** The list as its clients ask for it, with the filters that it takes. */
  paths: string[];
  // biome-ignore lint/suspicious/noExplicitAny: each list has a shape of its own
  rows: (body: any) => object;
  /** Whether only administrators may ask. */
  isForAdmins?: boolean;
}

const DAY = "date_start=2026-01-31&date_end=2026-01-31";

/** Every list of each API, by its route. A list that is missing here fails the first test. */
const LISTS: Record<string, Record<string, (clinic: Clinic) => List>> = {
  [EXTERNAL]: {
    "GET /organization_users": () => ({
      paths: ["/organization_users"],
      rows: (body) => body.organization_users,
    }),
    "GET /organization_users/:id": ({ assistant }) => ({
      paths: [`/organization_users/${assistant.id}`],
      rows: (body) => body.assists,
    }),
    "GET /waiting_rooms": ({ room }) => ({
      paths: ["/waiting_rooms", `/waiting_rooms?id=${room.id}`],
      rows: (body) => body.waiting_rooms,
    }),
    "GET /waiting_rooms/:waiting_room_slug/waiting_room_subs": ({ room, provider }) => ({
      paths: [room.slug, provider.waiting_room_slug].map(
        (slug) => `/waiting_rooms/${slug}/waiting_room_subs`,
      ),
      rows: (body) => body.waiting_room_subs,
    }),
    "GET /organization_users/:organization_user_id/calls": ({ provider }) => ({
      paths: ["", "?to=2026-01-31", "?external_reference=visit-1"].map(
        (query) => `/organization_users/${provider.id}/calls${query}`,
      ),
      rows: (body) => body.calls,
    }),
    "GET /calls": () => ({
      paths: ["", "?from=2026-01-31", "?external_reference=visit-1", "?participant_reference=patient-1"].map(
        (query) => `/calls${query}`,
      ),
      rows: (body) => body.calls,
    }),
    "GET /organization_users/:organization_user_id/calls/:call_id/participants": ({ call }) => ({
      paths: [`${call.path}/participants`],
      rows: (body) => body.participants,
    }),
    "GET /waiting_rooms/:slug/participants": ({ room, provider }) => ({
      paths: [room.slug, provider.waiting_room_slug].map((slug) => `/waiting_rooms/${slug}/participants`),
      rows: (body) => body.participants,
    }),
    "GET /call_metrics": ({ provider }) => ({
      paths: [`/call_metrics?${DAY}`, `/call_metrics?${DAY}&user_id=${provider.user_id}`],
      rows: (body) => body.total_calls,
    }),
    "GET /organization_users/:organization_user_id/calls/:call_id/transcript": ({ call }) => ({
      paths: [`${call.path}/transcript`],
      rows: (body) => body.transcript_lines,
    }),
    "GET /organization_users/:organization_user_id/calls/:call_id/consents": ({ call }) => ({
      paths: [`${call.path}/consents`],
      rows: (body) => body.consents,
    }),
    "GET /organization_users/:organization_user_id/calls/:call_id/egresses": ({ call }) => ({
      paths: [`${call.path}/egresses`],
      rows: (body) => body.egresses,
    }),
    "GET /organization_users/:organization_user_id/calls/:call_id/egresses/:egress_id/audit_logs": ({
      call,
      egress,
    }) => ({
      paths: ["", "?event=create", "?event=read"].map(
        (query) => `${call.path}/egresses/${egress.id}/audit_logs${query}`,
      ),
      rows: (body) => body.audit_logs,
    }),
    "GET /events": () => ({
      paths: ["/events?per_page=100", "/events?type=call.ended"],
      rows: (body) => body.events,
      isForAdmins: true,
    }),
    // Who asks is in the next response.
    "GET /access_logs": () => ({
      paths: ["/access_logs?event=create&per_page=100"],
      rows: (body) => body.access_logs,
      isForAdmins: true,
    }),
    "GET /access_log_seals": () => ({
      paths: ["/access_log_seals"],
      rows: (body) => body.access_log_seals,
      isForAdmins: true,
    }),
    "GET /webhook_endpoints": () => ({
      paths: ["/webhook_endpoints"],
      rows: (body) => body.webhook_endpoints,
      isForAdmins: true,
    }),
    "GET /webhook_endpoints/:id/deliveries": ({ webhook_endpoint }) => ({
      paths: [`/webhook_endpoints/${webhook_endpoint.id}/deliveries`],
      rows: (body) => body.deliveries,
      isForAdmins: true,
    }),
    "GET /invites": () => ({ paths: ["/invites"], rows: (body) => body.organization_invites }),
    "GET /bulk_invites/:id": ({ bulk }) => ({
      paths: [`/bulk_invites/${bulk.id}`],
      rows: (body) => body.bulk_invite.failures,
    }),
  },
  [PLATFORM]: {
    "GET /organizations/:organization_id/users": ({ id }) => ({
      paths: [`/organizations/${id}/users`],
      rows: (body) => body.users,
    }),
    "GET /organizations/:organization_id/api_clients": ({ id }) => ({
      paths: [`/organizations/${id}/api_clients`],
      rows: (body) => body.api_clients,
    }),
    "GET /organizations/:organization_id/issuers": ({ id }) => ({
      paths: [`/organizations/${id}/issuers`],
      rows: (body) => body.issuers,
    }),
  },
};

/** Lists that are of all organizations, for the operator of the service. */
const OF_EVERYBODY: Record<string, string[]> = { [PLATFORM]: ["GET /organizations", "GET /invites"] };

const apis = Object.keys(LISTS);
const lists = apis.flatMap((base) => Object.keys(LISTS[base] ?? {}).map((route) => ({ base, route })));

/** What the lists of an organization show, to each client that may ask. */
async function read(clinic: Clinic, base: string, route: string) {
  const list = LISTS[base]?.[route]?.(clinic);
  if (!list) throw new Error(`There is no entry for ${route}`);
  const ofClinic = list.isForAdmins ? [clinic.client] : clinic.clients;
  const clients: Pick<Api, "get">[] = base === EXTERNAL ? ofClinic : [platform];
  const bodies = [];
  for (const client of clients) for (const path of list.paths) bodies.push(await given(client.get(path)));
  return { bodies, rows: bodies.map(list.rows) };
}

describe("A list of one organization", () => {
  let ours: Clinic;
  let theirs: Clinic;
  const before: Record<string, unknown> = {};

  beforeAll(async () => {
    const world = aSharedWorld();
    ours = await aBusyClinic("Riverside", world);
    for (const { base, route } of lists) before[base + route] = (await read(ours, base, route)).bodies;
    theirs = await aBusyClinic("Hillside", world);
  });

  it.each(apis)("is among those that are checked here, if %s has it", (base) => {
    const checked = [...Object.keys(LISTS[base] ?? {}), ...(OF_EVERYBODY[base] ?? [])];
    expect(checked.sort()).toEqual(documentedLists(base));
  });

  it.each(lists)(
    "is the same when another one has its rows, and shows it nothing: $route of $base",
    async ({ base, route }) => {
      const [own, other] = [await read(ours, base, route), await read(theirs, base, route)];
      for (const rows of [...own.rows, ...other.rows]) expect(Object.keys(rows)).not.toEqual([]);
      expect(own.bodies).toEqual(before[base + route]);
      expect(JSON.stringify(other.bodies)).not.toMatch(/riverside/i);
    },
  );
});

/** Routes whose response holds rows or a map, as the published document says. */
function documentedLists(base: string): string[] {
  const document = documents[base];
  if (!document) throw new Error(`Nothing describes ${base}`);
  const { schemas } = document.components as { schemas: Record<string, unknown> };

  function holdsRows(part: unknown): boolean {
    if (typeof part !== "object" || part === null) return false;
    const { $ref, type, items, additionalProperties } = part as Record<string, unknown>;
    if (typeof $ref === "string") return holdsRows(schemas[$ref.split("/").at(-1) ?? ""]);
    const isMap = typeof additionalProperties === "object";
    const isRows = type === "array" && (items as { type?: string }).type !== "string";
    return isMap || isRows || Object.values(part).some(holdsRows);
  }

  return Object.entries(document.paths)
    .filter(([, { get }]) => holdsRows(get?.responses["200"]?.content?.["application/json"]?.schema))
    .map(([path]) => `GET ${path.replace(/\{(\w+)\}/g, ":$1")}`)
    .sort();
}
