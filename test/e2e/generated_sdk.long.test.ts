import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { resolve } from "node:path";
import { expect, inject, it, onTestFinished } from "vitest";
import type { Api } from "../../src/reference/apis.ts";
import { generateSdk } from "../../src/reference/sdk.ts";
import { documentOf } from "../project/support/documents.ts";
import { platformToken } from "./support/callers.ts";
import { anOrganization } from "./support/organization.ts";

const server = inject("sharedServer");

/**
 * Generates an SDK from a document. Only the document says where a credential belongs.
 *
 * @param auth returns the credential for a scheme
 */
async function sdkOf(
  api: Api,
  auth: (scheme: { type: string; scheme?: string; name?: string }) => string | undefined,
) {
  const folder = resolve("dist/test", randomUUID());
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await generateSdk(documentOf(api), folder);
  const { client } = await import(resolve(folder, "client.gen.ts"));
  client.setConfig({ baseUrl: `${server.url}/api/${api}`, auth });
  return import(resolve(folder, "index.ts"));
}

it("An SDK generated from the external document creates a room, and has the type of a refusal", async () => {
  const { organization, credentials } = await anOrganization(server.url);
  const own = await sdkOf("external", ({ name }) => credentials[name as keyof typeof credentials]);
  const created = await own.createWaitingRoom({
    body: { waiting_room: { name: "Oncology", is_active: true } },
  });
  expect(created.data?.slug).toBe(`${organization.slug}--oncology`);
  const nameless = await own.createWaitingRoom({ body: { waiting_room: { is_active: true } } });
  expect(nameless.response.status).toBe(422);
  expect(nameless.error?.error).toContain("waiting_room.name");
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

it.each(["external", "platform", "livekit"])(
  "The OpenAPI document and the Postman collection of the %s API are served without credentials",
  async (api) => {
    for (const document of ["openapi.json", "postman.json"]) {
      const response = await fetch(`${server.url}/api/${api}/${document}`);
      expect([response.status, await response.json()]).toEqual([
        200,
        expect.objectContaining({ info: expect.anything() }),
      ]);
    }
  },
);
