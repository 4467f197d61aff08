import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { type Api, platform } from "../support/api.ts";
import { aCall, aProviderOnTheCall, aRecipient, WAITING_SINCE } from "../support/calls.ts";
import { documents } from "../support/contract.ts";
import { anInvite, anOrganization, given, type Organization, unique } from "../support/organization.ts";
import { aQueue, workerWith } from "../support/queue.ts";
import { aSealedDay, runCronAt } from "../support/seals.ts";
import { dateAhead } from "../support/time.ts";
import { keyOf, planVisit } from "../support/visits.ts";

const EXTERNAL = "/api/external";
const PLATFORM = "/api/platform";

/** Values that two organizations may share, so that their rows differ only in the organization. */
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

/** An organization with rows in every list. All its texts contain its name. */
async function aBusyClinic(name: string, { emails, keys }: World) {
  const clinic = await anOrganization(name, unique(name.toLowerCase()));
  const date = await aSealedDay(clinic);
  await env.DB.prepare("insert into organization_days (organization_id, date, writes) values (?, ?, 1)")
    .bind(clinic.id, date)
    .run();
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
  const visit = await planVisit(clinic, room.slug, {
    external_reference: "visit-1",
    organization_user_id: provider.id,
    participants: [{ role: "recipient", display_name: `Rita ${name}` }],
  });
  const participants = [
    aRecipient({ key: keyOf(visit), display_name: `Rita ${name}` }),
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
  await given(call.reportSoapNote({ text: `Plan of ${name}.`, is_final: true }));
  for (const [text, correction] of Object.entries({
    transcript: { summary: `A greeting of ${name}.`, reason: "Misheard" },
    soap_note: { text: `Plan: ${name}.`, reason: "Misheard" },
  }))
    await given(clinic.client.put(`${call.path}/${text}`, { [text]: correction }));
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
  return {
    ...clinic,
    clients,
    provider,
    substitute,
    assistant,
    room,
    call,
    egress,
    bulk,
    visit,
    webhook_endpoint,
  };
}

async function aBulkInvite({ client }: Organization, emails: string[]) {
  const queue = aQueue();
  const { fetcher, consume } = workerWith({ BULK_INVITES: queue.binding });
  const organization_invites = emails.map((email) => anInvite({ email }));
  const asked = client.through(fetcher).post("/invites/bulk_create", { organization_invites });
  const { bulk_invite } = await given(asked);
  await consume(queue.take());
  return bulk_invite as { id: number };
}

type Clinic = Awaited<ReturnType<typeof aBusyClinic>>;

const DAY = "date_start=2026-01-31&date_end=2026-01-31";

const PLANNED_DAY = `?date_start=${dateAhead()}&date_end=${dateAhead()}`;

const FILTERS: Record<string, (clinic: Clinic) => string[]> = {
  "GET /waiting_rooms": ({ room }) => ["", `?id=${room.id}`],
  "GET /organization_users/:organization_user_id/calls": () => [
    ...["", "?to=2026-01-31", "?external_reference=visit-1"],
  ],
  "GET /calls": () => [
    ...["", "?from=2026-01-31", "?external_reference=visit-1", "?participant_reference=patient-1"],
  ],
  "GET /egresses": () => ["", "?from=2026-01-31", "?to=2026-01-31"],
  "GET /call_metrics": ({ provider, call }) => [
    ...[`?${DAY}`, `?${DAY}&user_id=${provider.user_id}`],
    `?${DAY}&days=local&waiting_room_id=${call.room.id}`,
  ],
  "GET /visits": ({ provider }) => [
    ...[`?from=${dateAhead()}`, "?status=started", "?external_reference=visit-1"],
    `?organization_user_id=${provider.id}`,
  ],
  "GET /visit_metrics": ({ provider, room }) => [
    ...[PLANNED_DAY, `${PLANNED_DAY}&user_id=${provider.user_id}`],
    `${PLANNED_DAY}&days=local&waiting_room_id=${room.id}`,
  ],
  "GET /organization_users/:organization_user_id/calls/:call_id/egresses/:egress_id/audit_logs": () => [
    ...["", "?event=create", "?event=read"],
  ],
  "GET /events": () => ["?per_page=100", "?type=call.ended"],
  // Only days that are over, because the requests of the test are counted.
  "GET /usage": () => ["?to=1990-01-31"],
  "GET /organizations/:organization_id/usage": () => ["?to=1990-01-31"],
  // Only creations, because each read of the list appears in the next response.
  "GET /access_logs": () => ["?event=create&per_page=100"],
};

const FOR_ADMINS = /^GET \/(events|access_logs|access_log_seals|webhook_endpoints|api_clients)\b|versions$/;

/** Lists of all organizations, for the operator of the service. */
const OF_EVERYBODY = ["GET /organizations", "GET /invites", "GET /events"];

const lists = [EXTERNAL, PLATFORM].flatMap((base) =>
  documentedLists(base)
    .filter((route) => base === EXTERNAL || !OF_EVERYBODY.includes(route))
    .map((route) => ({ base, route })),
);

/** The paths of a list, with and without its filters. Lists of a room are read for two rooms. */
function pathsOf(clinic: Clinic, route: string): string[] {
  const { id, room, provider, assistant, call, egress, bulk, visit, webhook_endpoint } = clinic;
  const slugs = /:(waiting_room_)?slug/.test(route) ? [room.slug, provider.waiting_room_slug] : [""];
  return slugs.flatMap((slug) => {
    const path = Object.entries({
      "GET ": "",
      "/organizations/:organization_id": `/organizations/${id}`,
      "/organization_users/:organization_user_id": `/organization_users/${provider.id}`,
      "/organization_users/:id": `/organization_users/${assistant.id}`,
      ":call_id": call.id,
      ":egress_id": egress.id,
      ":slug": slug,
      ":waiting_room_slug": slug,
      "/bulk_invites/:id": `/bulk_invites/${bulk.id}`,
      "/visits/:id": `/visits/${visit.id}`,
      "/webhook_endpoints/:id": `/webhook_endpoints/${webhook_endpoint.id}`,
    }).reduce((filled, [name, value]) => filled.replace(name, String(value)), route);
    return (FILTERS[route]?.(clinic) ?? [""]).map((filter) => `${path}${filter}`);
  });
}

const emptyIn = (body: object): string[] =>
  Object.entries(body).flatMap(([name, value]) => {
    if (typeof value !== "object" || value === null) return [];
    if (Object.keys(value).length === 0) return [name];
    return Array.isArray(value) ? [] : emptyIn(value);
  });

async function read(clinic: Clinic, base: string, route: string): Promise<object[]> {
  const ofClinic = FOR_ADMINS.test(route) ? [clinic.client] : clinic.clients;
  const clients: Pick<Api, "get">[] = base === EXTERNAL ? ofClinic : [platform];
  const bodies = [];
  for (const client of clients)
    for (const path of pathsOf(clinic, route)) bodies.push(await given(client.get(path)));
  return bodies;
}

describe("A list of one organization", () => {
  let ours: Clinic;
  let theirs: Clinic;
  const before: Record<string, unknown> = {};

  beforeAll(async () => {
    const world = aSharedWorld();
    ours = await aBusyClinic("Riverside", world);
    // Announces the results of the call, as the run that seals a day of theirs would.
    await runCronAt(Date.now());
    // The list of API clients shows when each was first used today, so they are used before it is read.
    for (const client of ours.clients) await given(client.get("/api_client"));
    for (const { base, route } of lists) before[base + route] = await read(ours, base, route);
    theirs = await aBusyClinic("Hillside", world);
  });

  it.each(lists)(
    "is unaffected by another organization's rows, and shows nothing to that organization: $route of $base",
    async ({ base, route }) => {
      const [own, other] = [await read(ours, base, route), await read(theirs, base, route)];
      for (const body of [...own, ...other]) expect(emptyIn(body)).toEqual([]);
      expect(own).toEqual(before[base + route]);
      expect(JSON.stringify(other)).not.toMatch(/riverside/i);
    },
  );
});

/** Routes whose response holds rows or a map, according to the published document. */
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
