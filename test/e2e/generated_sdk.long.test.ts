import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { resolve } from "node:path";
import { expect, inject, it, onTestFinished } from "vitest";
import type { Api } from "../../src/reference/apis.ts";
import { DEMO_CLIENT } from "../../src/reference/demo_client.ts";
import { generateSdk } from "../../src/reference/sdk.ts";
import { documentOf } from "../project/support/documents.ts";
import { platformToken } from "./support/callers.ts";
import { anOrganization } from "./support/organization.ts";

const server = inject("sharedServer");

interface Scheme {
  type: string;
  scheme?: string;
  name?: string;
}

/**
 * Generates an SDK from a document. Only the document says where a credential belongs.
 *
 * @param auth returns the credential for a scheme
 */
async function sdkOf(api: Api, auth: (scheme: Scheme) => string | undefined) {
  const folder = resolve("dist/test", randomUUID());
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await generateSdk(documentOf(api), folder);
  const { client } = await import(resolve(folder, "client.gen.ts"));
  client.setConfig({ baseUrl: `${server.url}/api/${api}`, auth });
  return import(resolve(folder, "index.ts"));
}

it("An SDK generated from the external document creates a room, and reads a transcript as JSON and as WebVTT", async () => {
  const { organization, credentials } = await anOrganization(server.url);
  const own = await sdkOf("external", ({ name }) => credentials[name as keyof typeof credentials]);
  const created = await own.createWaitingRoom({
    body: { waiting_room: { name: "Oncology", is_active: true } },
  });
  expect(created.data?.slug).toBe(`${organization.slug}--oncology`);
  const nameless = await own.createWaitingRoom({ body: { waiting_room: { is_active: true } } });
  expect(nameless.response.status).toBe(422);
  expect(nameless.error?.error).toContain("waiting_room.name");

  const ofDemo = { "X-Client-ID": DEMO_CLIENT.client_id, "X-Client-Secret": DEMO_CLIENT.client_secret };
  const demo = await sdkOf("external", ({ name }) => ofDemo[name as keyof typeof ofDemo]);
  const users = await demo.listOrganizationUsers({ query: { per_page: 100 } });
  const provider = users.data?.organization_users.find(({ roles }: { roles: string[] }) =>
    roles.includes("provider"),
  );
  const organization_user_id = provider?.id;
  const calls = await demo.listCalls({ path: { organization_user_id } });
  const path = { organization_user_id, call_id: calls.data?.calls[0]?.id };
  const transcript = await demo.getTranscript({ path });
  expect(
    transcript.data?.transcript_lines.map((line: Record<string, string>) => [line.display_name, line.text]),
  ).toEqual([
    ["Pascal Provider", "Good morning, how are you?"],
    ["Remy Recipient", "Better, thank you."],
  ]);
  const captions = await demo.getTranscript({ path, headers: { Accept: "text/vtt" } });
  expect(captions.data?.startsWith("WEBVTT\n")).toBe(true);
});

it("An SDK generated from the platform's document sends the platform's token where the service expects it", async () => {
  const { organization, credentials } = await anOrganization(server.url);
  const organization_id = organization.id;
  const platform = await sdkOf("platform", ({ type, scheme }) =>
    type === "http" && scheme === "bearer" ? platformToken() : undefined,
  );
  const clients = await platform.listApiClients({ path: { organization_id } });
  expect(clients.data?.api_clients).toMatchObject([{ client_id: credentials["X-Client-ID"] }]);
});
