import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { unstable_readConfig } from "wrangler";
import { presignDownload } from "../../src/results/egresses/egresses.files.ts";
import { readSettings } from "../../src/settings.ts";
import { anOrganization } from "./support/organization.ts";
import { reportRecording, uploadFile } from "./support/recordings.ts";
import { startServer } from "./support/server.ts";

const bytes = crypto.getRandomValues(new Uint8Array(50_000));

const server = inject("sharedServer");

const secretsOfServer = () => parseEnv(readFileSync(".dev.vars", "utf8"));

/** A recording whose file is stored on the shared server. */
async function aRecording({ url: serverUrl }: { url: string } = server) {
  const id = randomUUID();
  const made = await anOrganization(serverUrl, { role: "provider" });
  const { organization, base, platform, external } = made;
  const encoded = `${organization.slug}/${id}%20%28%C3%BCbung%29.wav`;
  await uploadFile(server.url, secretsOfServer(), encoded, bytes);
  const path = await reportRecording(made, made.user, id, `${id} (übung).wav`);
  const egress = await external("GET", path);
  expect(egress.status).toBe(200);
  const remove = () => platform("DELETE", `${base}/egresses/${id}`);
  const storage_key = `${organization.slug}/${id} (übung).wav`;
  return { url: egress.body.url as string, storage_key, external, path, remove };
}

describe("A recording's presigned URL", () => {
  let recording: Awaited<ReturnType<typeof aRecording>>;
  let url: string;

  beforeAll(async () => {
    recording = await aRecording();
    url = recording.url;
  });

  it("returns the recorded bytes, all or a range of them", async () => {
    const whole = await fetch(url);
    expect(whole.status).toBe(200);
    expect(new Uint8Array(await whole.arrayBuffer())).toEqual(bytes);
    const range = await fetch(url, { headers: { Range: "bytes=100-199" } });
    expect(range.status).toBe(206);
    expect(new Uint8Array(await range.arrayBuffer())).toEqual(bytes.slice(100, 200));
  });

  it.each([
    ["another entry of the audit log", (other: URL) => other.searchParams.set("x-audit-log-id", "0")],
    [
      "another file",
      (other: URL) => Object.assign(other, { pathname: other.pathname.replace(".wav", ".ogg") }),
    ],
    ["no signature at all", (other: URL) => Object.assign(other, { search: "" })],
  ])("is refused with %s", async (_, change) => {
    const changed = new URL(url);
    change(changed);
    expect([400, 401, 403]).toContain((await fetch(changed)).status);
  });

  it("is refused for writing and deleting", async () => {
    for (const method of ["PUT", "DELETE"]) expect((await fetch(url, { method })).status).toBe(403);
  });

  it("is refused once it has expired", async () => {
    const { vars } = unstable_readConfig({ config: "wrangler.toml" });
    const settings = readSettings({ ...vars, ...secretsOfServer() });
    const presignedAgo = (minutes: number) =>
      presignDownload(
        { settings, url: server.url, now: Date.now() - minutes * 60_000 },
        recording.storage_key,
        1,
      );
    expect((await fetch(await presignedAgo(14))).status).toBe(200);
    expect((await fetch(await presignedAgo(16))).status).toBe(403);
  });
});

describe("A deleted recording", () => {
  it("is gone at once, even for earlier URLs", async () => {
    const { url, external, path, remove } = await aRecording();
    expect((await fetch(url)).status).toBe(200);
    expect((await remove()).status).toBe(204);
    expect((await fetch(url)).status).toBe(404);
    expect((await external("GET", path)).body).toMatchObject({ status: "egress_deleted", url: null });
  });

  it("is deleted with a signed request if its storage is elsewhere", async () => {
    // For the second server, the S3 interface of the first is external storage.
    const elsewhere = `${server.url}/cdn-cgi/local/r2/s3`;
    const other = await startServer({
      flags: ["--var", `RECORDINGS_S3_ENDPOINT:${elsewhere}`],
      ownData: "other",
    });
    const recording = await aRecording(other);
    expect(new URL(recording.url).origin).toBe(server.url);
    expect((await fetch(recording.url)).status).toBe(200);
    expect((await recording.remove()).status).toBe(204);
    expect((await fetch(recording.url)).status).toBe(404);
    expect((await recording.external("GET", recording.path)).body).toMatchObject({
      status: "egress_deleted",
      url: null,
    });
  });
});
