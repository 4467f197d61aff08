import { describe, expect, it } from "vitest";
import type { Api } from "../support/api.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given } from "../support/organization.ts";
import { aCallToTranscribe, says } from "../support/transcripts.ts";
import { changingNothing } from "../support/unchanged.ts";
import { aPlan } from "../support/visits.ts";

interface Scene {
  client: Pick<Api, "send">;
  path: string;
  change: (n: number) => object;
}

async function aFinalText() {
  const scene = await aCallToTranscribe();
  await given(scene.call.reportSoapNote({ text: "Subjective: better.", is_final: true }));
  const lines = [says(scene.paula, 0, 1)];
  await given(scene.call.reportTranscript({ summary: "A greeting.", is_final: true, lines }));
  return scene;
}

/** A resource in a clinic of its own. The body of `change` makes a different change for each `n`. */
const THINGS: Record<string, () => Promise<Scene>> = {
  "PUT …/calls/{call_id}/soap_note": async () => {
    const { clinic, call } = await aFinalText();
    const change = (n: number) => ({ soap_note: { text: `Subjective: ${n}.`, reason: "Misheard" } });
    return { client: clinic.client, path: `${call.path}/soap_note`, change };
  },
  "PUT …/calls/{call_id}/transcript": async () => {
    const { clinic, call } = await aFinalText();
    const change = (n: number) => ({ transcript: { summary: `Greeting ${n}.`, reason: "Misheard" } });
    return { client: clinic.client, path: `${call.path}/transcript`, change };
  },
  "PUT /visits/{id}": async () => {
    const { client, addRoom } = await anOrganization();
    const { id } = await given(client.post("/visits", { visit: aPlan((await addRoom()).slug) }));
    const change = (n: number) => ({ visit: { external_reference: `visit-${n}` } });
    return { client, path: `/visits/${id}`, change };
  },
  "PUT /waiting_rooms/{slug}": async () => {
    const { client, addRoom } = await anOrganization();
    const change = (n: number) => ({ waiting_room: { theme: `theme-${n}` } });
    return { client, path: `/waiting_rooms/${(await addRoom()).slug}`, change };
  },
};

const etagOf = ({ headers }: { headers: Headers }) => headers.get("ETag") ?? "";

/** The ETag after proxies compressed the response: Cloudflare, Apache, Jetty, and two in a row. */
const AT_THE_EDGE = [
  (etag: string) => `W/${etag}`,
  (etag: string) => etag.replace(/"$/, '-gzip"'),
  (etag: string) => etag.replace(/"$/, '--br"'),
  (etag: string) => `W/${etag.replace(/"$/, '-zstd"')} , "other"`,
];

describe.each(Object.entries(THINGS))("%s", (_, aThing) => {
  async function aScene() {
    const { client, path, change } = await aThing();
    const read = () => client.send("GET", path);
    const put = (n: number, etag?: string) =>
      client.send("PUT", path, change(n), etag === undefined ? {} : { "If-Match": etag });
    return { read, put };
  }

  it("accepts the current ETag, and returns the next one; accepts a list, *, and no If-Match", async () => {
    const { read, put } = await aScene();
    const etag = etagOf(await read());
    expect(etag).toMatch(/^"[\x21\x23-\x7e]+"$/);
    expect(etagOf(await read())).toBe(etag);
    const changed = await put(1, etag);
    expect(changed.status).toBe(200);
    expect(etagOf(changed)).not.toBe(etag);
    expect(etagOf(changed)).toBe(etagOf(await read()));
    expect((await put(2, etagOf(changed))).status).toBe(200);
    expect((await put(3, `"other" ,${etagOf(await read())}`)).status).toBe(200);
    expect((await put(4, "*")).status).toBe(200);
    expect((await put(5)).status).toBe(200);
    for (const [n, change] of AT_THE_EDGE.entries())
      expect((await put(6 + n, change(etagOf(await read())))).status).toBe(200);
  });

  it("refuses the ETag of another version, and a malformed If-Match", async () => {
    const { read, put } = await aScene();
    const etag = etagOf(await read());
    await given(put(1));
    for (const old of [etag, `W/${etag}`, `"a", ${etag}`, '""']) {
      const refused = await changingNothing(() => put(2, old));
      expectRefusal(refused, 412, /^If-Match: .* read it again/);
      expect(refused.headers.get("Error-Code")).toBe("changed_meanwhile");
    }
    for (const malformed of [etag.slice(1), etag.replaceAll('"', ""), `${etag},`, "*, *", "x".repeat(2000)])
      expectRefusal(await put(1, malformed), 400, /^If-Match: must be/);
  });
});

it("PUT of an unknown resource returns 404, whatever ETag is sent", async () => {
  const { client } = await anOrganization();
  for (const etag of ['"1"', "*"])
    expectRefusal(
      await client.send("PUT", "/waiting_rooms/nowhere", { waiting_room: {} }, { "If-Match": etag }),
      404,
    );
});

/** A planned visit, a room, and the texts of calls: everything that has an ETag can be deleted. */
describe.each(Object.entries(THINGS))("DELETE instead of %s", (_, aThing) => {
  it("deletes the version that If-Match names, and no other", async () => {
    const { client, path, change } = await aThing();
    const old = etagOf(await client.send("GET", path));
    await given(client.send("PUT", path, change(1)));
    const remove = (etag: string) => client.send("DELETE", path, undefined, { "If-Match": etag });
    expectRefusal(await changingNothing(() => remove(`W/${old}`)), 412);
    expectRefusal(await changingNothing(() => remove(old.slice(1))), 400, /^If-Match: must be/);
    expect((await remove(`W/${etagOf(await client.send("GET", path))}`)).status).toBe(204);
  });
});

it("Other values that callers send back work as proxies and libraries change them", async () => {
  const { client, addRoom } = await anOrganization();
  const { slug } = await addRoom();
  const send = (method: string, path: string, body?: object, headers = {}) =>
    given(client.send(method, path, body, headers));
  const plan = (key: string) => send("POST", "/visits", { visit: aPlan(slug) }, { "Idempotency-Key": key });
  const visits = [await plan("a-key"), await plan("another-key")];
  for (const key of ['"a-key"', "  a-key "]) expect((await plan(key)).id).toBe(visits[0].id);
  const { next_after } = await send("GET", "/visits?per_page=1");
  const encoded = [...next_after].map((each: string) => `%${each.charCodeAt(0).toString(16)}`).join("");
  const page = await send("GET", `/visits?after=${encoded}`);
  expect(page.visits).toMatchObject([{ id: visits[1].id }]);
  const read = await client.send("GET", `/waiting_rooms/${slug}`);
  const again = {
    "If-None-Match": `W/${etagOf(read)}`,
    "X-D1-Bookmark": `"${read.headers.get("X-D1-Bookmark")}"`,
  };
  expect(await send("GET", `/waiting_rooms/${slug}`, undefined, again)).toEqual(read.body);
});
