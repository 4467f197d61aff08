/** Sends every example of the documents to the demo organization, as *Try it* does in the local reference. */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, it } from "vitest";
import { app } from "../../src/app.ts";
import { loadDemoOrganization } from "../../src/dev/demo_organization.ts";
import { migratedDatabase } from "../../src/dev/migrations.ts";
import { API_NAMES } from "../../src/reference/apis.ts";
import { DEMO_CLIENT } from "../../src/reference/demo_client.ts";
import { requestOf } from "../../src/reference/site/operation_pages.ts";
import { platformCredentials } from "./support/clinic_in_node.ts";
import { bindingOf } from "./support/d1_binding.ts";
import { documentOf } from "./support/documents.ts";
import { executeOn } from "./support/service_in_memory.ts";
import {
  answer,
  bindings,
  type Handler,
  likeWorkers,
  makeRequest,
  signatureOfLiveKit,
} from "./support/worker_in_node.ts";

/** The examples that the demo refuses, with the status and the reason. */
const REFUSED: Record<string, [status: number, reason: string]> = {
  exchangeToken: [401, "Nobody can sign with the key of the example's identity provider."],
  redeemAuthorizationCode: [401, "A code works once, and for seconds."],
  acceptInvite: [404, "A link that works is signed with the service's secret."],
  redeemVisitLink: [404, "A link that works is signed with the service's secret."],
  redeliverWebhooks: [
    422,
    "The demo's endpoint is inactive, so that nothing leaves the developer's machine.",
  ],
  getSealedAccessLog: [404, "The demo has no day that is older than itself."],
  deleteIssuer: [404, "The demo has no identity provider, so that the example of createIssuer works."],
  "createOrganization in-a-region": [422, "The demo's service has no regions."],
  "createUser a-providers-assistant": [422, "Ann is a user of the demo."],
  "createUser an-administrator": [422, "Olga is a user of the demo."],
  "reportParticipant a-person-leaves": [
    422,
    "Nobody waits in the demo, because a room in which somebody waits cannot be retired.",
  ],
  "reportCall a-participant-withdraws-consent": [422, "The demo's call is younger than the example's."],
};

const requests = API_NAMES.flatMap((api) =>
  Object.entries(documentOf(api).paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => {
      const { path: url } = requestOf(api, method.toUpperCase(), path, operation);
      const [media] = Object.values(operation.requestBody?.content ?? {});
      const bodies = Object.entries(media?.examples ?? { "": { value: media?.example } });
      return bodies.map(([name, { value }]) => ({
        api,
        example: `${operation.operationId} ${name}`.trim(),
        method: method.toUpperCase(),
        url,
        body: value as object | undefined,
      }));
    }),
  ),
);

let folder: string;

beforeAll(async () => {
  likeWorkers();
  folder = mkdtempSync(join(tmpdir(), "try-it-"));
  const database = migratedDatabase();
  await loadDemoOrganization(environmentOf(database), Date.now());
  database.exec(`VACUUM INTO '${join(folder, "demo")}'`);
});

afterAll(() => rmSync(folder, { recursive: true }));

function environmentOf(database: DatabaseSync): Env {
  const env = bindings(bindingOf(executeOn(database)));
  return {
    ...env,
    RECORDINGS: Object.assign({ put: async () => null }, env.RECORDINGS) as unknown as R2Bucket,
  };
}

async function send({ api, method, url, body }: (typeof requests)[number]) {
  copyFileSync(join(folder, "demo"), join(folder, "copy"));
  const database = new DatabaseSync(join(folder, "copy"));
  const { client_id, client_secret } = DEMO_CLIENT;
  const signed = () => signatureOfLiveKit(JSON.stringify(body), Date.now());
  const credentials: Record<string, string> =
    api === "external"
      ? { "X-Client-ID": client_id, "X-Client-Secret": client_secret }
      : api === "platform"
        ? platformCredentials
        : { Authorization: signed() };
  const request = makeRequest(method, url, credentials, body);
  const response = await answer(app.fetch as Handler, request, environmentOf(database));
  const text = await response.text();
  database.close();
  return { status: response.status, text };
}

it.each(requests)("$example", async (request) => {
  const { status, text } = await send(request);
  const [refused] = REFUSED[request.example] ?? [];
  expect(refused ? [refused] : [200, 201, 202, 204], text).toContain(status);
});
