/**
 * `npm run demo [-- URL]`: walks through the product against a running server, request by request. Each walk makes
 * an organization of its own.
 */
import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { HOUR } from "../limits.ts";

const server = process.argv[2] ?? "http://localhost:8787";
const { PLATFORM_API_TOKEN } = parseEnv(readFileSync(".dev.vars", "utf8"));

type Headers = Record<string, string>;

function chapter(title: string) {
  process.stdout.write(`\n\n━━ ${title} ${"━".repeat(Math.max(0, 100 - title.length))}\n`);
}

function say(text: string) {
  process.stdout.write(`\n${text}\n`);
}

/** Sends one request, and shows it and its answer. */
async function show(headers: Headers, method: string, path: string, body?: object) {
  process.stdout.write(`\n  ${method} ${path}\n${body ? indent(body) : ""}`);
  const response = await fetch(server + path, {
    method,
    headers: { ...headers, ...(body ? { "Content-Type": "application/json" } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  const answer = text === "" ? null : JSON.parse(text);
  process.stdout.write(`  → ${response.status}\n${answer ? indent(answer) : ""}`);
  return answer;
}

function indent(value: object) {
  return `${JSON.stringify(value, null, 2).replace(/^/gm, "    ")}\n`;
}

const platform: Headers = { Authorization: `Bearer ${PLATFORM_API_TOKEN}` };
const now = Date.now();
const at = (hours: number) => new Date(Math.ceil(now / HOUR) * HOUR + hours * HOUR).toISOString();

chapter("The operator provisions an organization, through the platform door");
const organization = await show(platform, "POST", "/api/platform/organizations", {
  organization: { name: "Riverside Clinic" },
});
const users = `/api/platform/organizations/${organization.id}/users`;
const mail = (name: string) => `${name}@${organization.slug}.example`;
const admin = await show(platform, "POST", users, {
  user: { email: mail("ada"), display_name: "Ada Admin", roles: ["organization_admin"] },
});
say("A provider gets a personal waiting room of its own.");
const provider = await show(platform, "POST", users, {
  user: { email: mail("paul"), display_name: "Dr. Paul Provider", roles: ["provider"] },
});
say("The secret of an API client is shown this once; the service keeps its digest alone.");
const client = await show(platform, "POST", `/api/platform/organizations/${organization.id}/api_clients`, {
  api_client: { name: "Clinic integration", organization_user_id: admin.id },
});
const clinic: Headers = { "X-Client-ID": client.client_id, "X-Client-Secret": client.client_secret };

chapter("The organization manages its waiting rooms, through the external door");
const room = await show(clinic, "POST", "/api/external/waiting_rooms", {
  waiting_room: { name: "Café Cardiology", is_active: true },
});
say("A new name makes a new slug: the old link stops resolving.");
const renamed = await show(clinic, "PUT", `/api/external/waiting_rooms/${room.slug}`, {
  waiting_room: { name: "Cardiology" },
});
await show(clinic, "GET", `/api/external/waiting_rooms/${room.slug}`);
await show(clinic, "GET", "/api/external/waiting_rooms?per_page=2");
say("What is wrong is said in words.");
await show(clinic, "POST", "/api/external/waiting_rooms", { waiting_room: { name: " ", slug: "mine" } });

chapter("A substitution redirects the room's participants for a while");
const subs = `/api/external/waiting_rooms/${renamed.slug}/waiting_room_subs`;
const sub = await show(clinic, "POST", subs, {
  waiting_room_sub: { user_id: provider.user_id, datetime_start: at(-1), datetime_end: at(2) },
});
await show(clinic, "POST", subs, {
  waiting_room_sub: { user_id: provider.user_id, datetime_start: at(1), datetime_end: at(3) },
});
say("The platform asks where somebody who opens the room is to be sent now.");
await show(platform, "GET", `/api/platform/waiting_rooms/${renamed.slug}`);
await show(clinic, "DELETE", `${subs}/${sub.id}`);

chapter("Somebody waits, so the room cannot be retired");
const participant = `/api/platform/waiting_rooms/${renamed.slug}/participants/visit-1`;
await show(platform, "PUT", participant, {
  participant: {
    display_name: "Rita Recipient",
    role: "recipient",
    waiting_since: new Date(now).toISOString(),
  },
});
await show(clinic, "DELETE", `/api/external/waiting_rooms/${renamed.slug}`);
await show(platform, "PUT", participant, { participant: { left_at: new Date().toISOString() } });
await show(clinic, "DELETE", `/api/external/waiting_rooms/${renamed.slug}`);

chapter("Who belongs to the organization");
await show(clinic, "GET", "/api/external/organization_users");
