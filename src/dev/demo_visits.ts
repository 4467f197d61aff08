/** Plays visits in an organization of a deployed service, with the reports that the video platform would send. */
import { randomUUID } from "node:crypto";
import { isLoopback } from "../http/loopback.ts";
import { MINUTE } from "../units.ts";
import { type Consent, mayChange, say, UsageError } from "./command.ts";
import { type Platform, platformAt } from "./demo_platform.ts";
import { SOAP_NOTE, transcriptOf } from "./demo_results.ts";

/** The recipient of each visit, and whether they consent to be recorded. */
const RECIPIENTS = [
  { display_name: "Demo Recipient Rita", recording_consent: true },
  { display_name: "Demo Recipient Remy", recording_consent: false },
];

interface Provider {
  id: number;
  display_name: string;
  waiting_room_slug: string;
}

interface Arguments extends Consent {
  url?: string | undefined;
  organization?: string | undefined;
}

export async function playVisits(given: Arguments): Promise<void> {
  const server = requireAddress(given.url);
  const { PLATFORM_API_TOKEN: token } = process.env;
  if (!token) throw new UsageError("Set the environment variable PLATFORM_API_TOKEN to the service's token.");
  if (!/^[1-9]\d{0,15}$/.test(given.organization ?? ""))
    throw new UsageError("--organization must be the id of an organization.");
  const platform = platformAt(server, token, (...request) =>
    fetch(...request).catch(() => {
      throw new Error(`${server} cannot be reached.`);
    }),
  );
  const organization = await platform("GET", `/organizations/${given.organization}`);
  const path = `/organizations/${organization.id}`;
  const provider = await requireProvider(platform, path);
  const plan = [
    `Play ${RECIPIENTS.length} visits in the organization ${organization.id}, ${organization.name}, at ${server}`,
    `They stay there as calls of the organization user ${provider.id}, count in its metrics, and cause events, which webhooks receive`,
  ];
  if (!(await mayChange(plan, { ...given, remote: true }))) return;
  const name = `demo-${randomUUID().slice(0, 8)}`;
  for (const [n, recipient] of RECIPIENTS.entries()) {
    // One visit after the other. The last one ends now.
    const ended_at = Date.now() - (RECIPIENTS.length - 1 - n) * 20 * MINUTE;
    await playVisit(platform, path, provider, { key: `${name}-${n + 1}`, recipient, ended_at });
  }
}

function requireAddress(url = ""): string {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  const isSafe =
    address?.protocol === "https:" || (address?.protocol === "http:" && isLoopback(address.hostname));
  if (!address || !isSafe || address.username || address.password)
    throw new UsageError("--url must be the address of the service, such as https://visits.example.com.");
  return address.origin;
}

async function requireProvider(platform: Platform, path: string): Promise<Provider> {
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { users, pagination } = await platform("GET", `${path}/users?per_page=100&page=${page}`);
    const provider = users.find((user: Provider) => user.waiting_room_slug !== null);
    if (provider) return provider;
    pages = pagination.total_pages;
  }
  throw new Error("The organization has no provider, who could hold the calls: add one first.");
}

interface Visit {
  /** Names everything that belongs to the visit. */
  key: string;
  recipient: (typeof RECIPIENTS)[number];
  ended_at: number;
}

async function playVisit(platform: Platform, path: string, provider: Provider, visit: Visit) {
  const { key, recipient, ended_at } = visit;
  const { waiting_room_slug, id: organization_user_id } = provider;
  const { display_name, recording_consent } = recipient;
  const before = (minutes: number) => new Date(ended_at - minutes * MINUTE).toISOString();
  const keys = { provider: `${key}-provider`, recipient: `${key}-recipient` };
  const report = (of: string, body: object) => platform("PUT", `${path}/${of}`, body);

  await platform("PUT", `/waiting_rooms/${waiting_room_slug}/participants/${keys.recipient}`, {
    participant: { display_name, role: "recipient", external_reference: key, waiting_since: before(15) },
  });
  const started_at = before(10);
  const participants = [
    { key: keys.recipient, joined_at: started_at, recording_consent },
    {
      key: keys.provider,
      display_name: provider.display_name,
      role: "provider",
      user_id: organization_user_id,
      joined_at: started_at,
      recording_consent: true,
    },
  ];
  const call = { waiting_room_slug, organization_user_id, external_reference: key, started_at, participants };
  const { id } = await report(`calls/${key}`, { call });
  const recording = { call_key: key, started_at };
  if (recording_consent)
    await report(`egresses/${key}`, { egress: { ...recording, status: "egress_active" } });
  const end = { ended_at: before(0) };
  await report(`calls/${key}`, { call: end });
  if (recording_consent)
    await report(`egresses/${key}`, { egress: { ...end, status: "egress_ended", is_stopped: true } });
  const transcript = transcriptOf([keys.provider, keys.recipient]);
  await report(`calls/${key}/transcript`, { transcript });
  await report(`calls/${key}/soap_note`, { soap_note: SOAP_NOTE });
  const results = recording_consent ? "a SOAP note and a recording without a file" : "and a SOAP note";
  say(`${key}: call ${id}, with a transcript, ${results}`);
}
