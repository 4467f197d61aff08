import { expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { storedRows } from "../support/database.ts";
import { anOrganization } from "../support/organization.ts";
import { externalExamples, platformExamples } from "../support/routes.ts";

const TAKING = [
  "POST /waiting_rooms",
  "POST /waiting_rooms/:waiting_room_slug/waiting_room_subs",
  "POST /invites",
  "POST /invites/bulk_create",
  "POST /visits",
  "POST /webhook_endpoints",
  "POST /api_clients",
];

const others = Object.entries(externalExamples).filter(([route]) => !TAKING.includes(route));

it.each([
  ...others.map(([route, example]) => ["external", route, example] as const),
  ...Object.entries(platformExamples).map(([route, example]) => ["platform", route, example] as const),
])("An Idempotency-Key is ignored in the %s API by %s", async (base, route, example) => {
  const organization = await anOrganization();
  const { path, body } = await example(organization);
  const { send } = base === "platform" ? platform : organization.client;
  const [method = ""] = route.split(" ");
  const { status, headers } = await send(method, path, body, { "Idempotency-Key": "x".repeat(300) });
  expect([200, 201, 202, 204]).toContain(status);
  expect(headers.get("Idempotent-Replayed")).toBeNull();
  await send(method, path, body, { "Idempotency-Key": "a key" });
  expect(await storedRows(organization, "idempotency_keys")).toEqual([]);
});
