import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { fillOrganization } from "../project/support/moving.ts";
import { configurations } from "./support/configurations.ts";
import { done, refused } from "./support/ended.ts";
import { uploadFile } from "./support/livekit.ts";
import { withDatabases } from "./support/local_databases.ts";
import { anOrganization } from "./support/organization.ts";
import { npmRunWith, startServer } from "./support/server.ts";

/** More than the storage lists at once. */
const FILES = 1001;
const ROWS = 33_000;

const { folder } = configurations();

describe("npm run organizations:delete", { timeout: 300_000 }, () => {
  let server: Awaited<ReturnType<typeof startServer>>;
  let state: string;
  let clinic: Awaited<ReturnType<typeof anOrganization>>;
  let other: Awaited<ReturnType<typeof anOrganization>>;
  const kept = join(folder, "kept.ndjson");

  beforeAll(async () => {
    server = await startServer({ ownData: "leaving" });
    state = join(server.persistTo, "leaving");
    [clinic, other] = [await anOrganization(server.url), await anOrganization(server.url, { name: "Other" })];
    const secrets = parseEnv(readFileSync(".dev.vars", "utf8"));
    const put = (slug: string, n: number) =>
      uploadFile(server.url, secrets, `${slug}/${n}%20%26%20%C3%BC.ogg`, new Uint8Array(1));
    for (let n = 0; n < FILES; n += 20)
      await Promise.all(
        Array.from({ length: Math.min(20, FILES - n) }, (_, k) => put(clinic.organization.slug, n + k)),
      );
    await put(other.organization.slug, 1);
    withDatabases(state, (databases) => {
      const database = databases.get(0);
      if (database) fillOrganization(database, clinic.organization.id, { rows: ROWS, hours: 10 });
    });
  }, 300_000);

  const remove = (input: string) =>
    npmRunWith(
      input,
      "organizations:delete",
      "--",
      "--persist-to",
      state,
      "--access-log",
      kept,
      "--organization",
      String(clinic.organization.id),
    );

  it("deletes nothing unless the organization is suspended and its slug is typed", async () => {
    const { id, slug } = clinic.organization;
    expect(await refused(remove(`${slug}\n`))).toContain("is not suspended: suspend it first");
    const suspended = await clinic.platform("PUT", `/organizations/${id}`, {
      organization: { is_suspended: true },
    });
    expect(suspended.status).toBe(200);
    for (const text of ["", "\n", `${other.organization.slug}\n`]) {
      const said = await refused(remove(text));
      expect(said).toContain(`Organization ${id} (${slug}) has`);
      expect(said).toMatch(/ calls: 3,?300 rows/);
      expect(said).toContain(`files of recordings: ${FILES}`);
      expect(said).toContain("Nothing was deleted.");
    }
    expect(existsSync(kept)).toBe(false);
    expect((await clinic.platform("GET", `/organizations/${id}`)).status).toBe(200);
  });

  it("deletes all rows and files while the service runs, and never gives the slug to anyone else", async () => {
    const { id, slug } = clinic.organization;
    expect(await done(remove(`${slug}\n`))).toContain(`Organization ${id} is deleted.`);
    expect(readFileSync(kept, "utf8").split("\n").length).toBeGreaterThan(ROWS / 2);
    expect((await clinic.platform("GET", `/organizations/${id}`)).status).toBe(404);
    const { organizations, pagination } = (await clinic.platform("GET", "/organizations")).body;
    expect(organizations.map((each: { id: number }) => each.id)).toEqual([other.organization.id]);
    expect(pagination.total_count).toBe(1);
    const again = await clinic.platform("POST", "/organizations", { organization: { name: "Again", slug } });
    expect(again).toMatchObject({ status: 422 });
    expect((await other.external("GET", "/waiting_rooms")).status).toBe(200);
    expect(await done(remove(`${slug}\n`))).toContain("files of recordings: 0");
  });
});
