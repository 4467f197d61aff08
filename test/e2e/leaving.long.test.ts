import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { fillOrganization } from "../project/support/moving.ts";
import { configurations } from "./support/configurations.ts";
import { done, refused } from "./support/ended.ts";
import { withDatabases } from "./support/local_databases.ts";
import { anOrganization } from "./support/organization.ts";
import { uploadFile } from "./support/recordings.ts";
import { npmRun, startServer } from "./support/server.ts";

/** More than the storage lists at once. */
const FILES = 1001;
const ROWS = 33_000;

const { folder } = configurations();

describe("npm run organizations:delete", () => {
  let server: Awaited<ReturnType<typeof startServer>>;
  let state: string;
  let clinic: Awaited<ReturnType<typeof anOrganization>>;
  let other: Awaited<ReturnType<typeof anOrganization>>;
  const kept = ({ organization }: { organization: { id: number } }) =>
    join(folder, `kept-${organization.id}`);

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
  });

  const remove = (leaving: { organization: { id: number } }, ...consent: string[]) => {
    const id = String(leaving.organization.id);
    const flags = ["--persist-to", state, "--access-log", kept(leaving), "--organization", id, ...consent];
    return npmRun("organizations:delete", "--", ...flags);
  };

  const setSuspended = async ({ platform, base }: typeof clinic, is_suspended: boolean) =>
    expect((await platform("PUT", base, { organization: { is_suspended } })).status).toBe(200);

  it("deletes nothing unless the organization is suspended, and there is a terminal or --yes", async () => {
    const { id, slug } = other.organization;
    expect(await refused(remove(other, "--yes"))).toContain("is not suspended: suspend it first");
    await setSuspended(other, true);
    for (const said of [await refused(remove(other)), await done(remove(other, "--dry-run"))]) {
      expect(said).toContain(`Delete organization ${id} (${slug}) for good\n`);
      expect(said).toContain("files of recordings: 1\n");
    }
    await setSuspended(other, false);
    expect((await other.platform("GET", other.base)).status).toBe(200);
  });

  it("deletes all rows and files while the service runs, and never gives the slug to anyone else", async () => {
    const { id, slug } = clinic.organization;
    await setSuspended(clinic, true);
    const said = await done(remove(clinic, "--yes"));
    expect(said).toContain(`  calls: ${ROWS / 10} rows`);
    expect(said).toContain(`files of recordings: ${FILES}\n`);
    expect(said).toContain(`The rows of organization ${id} are deleted.`);
    expect(readFileSync(kept(clinic), "utf8").split("\n").length).toBeGreaterThan(ROWS / 2);
    expect((await clinic.platform("GET", clinic.base)).status).toBe(404);
    const { organizations, pagination } = (await clinic.platform("GET", "/organizations")).body;
    expect(organizations.map((each: { id: number }) => each.id)).toEqual([other.organization.id]);
    expect(pagination.total_count).toBe(1);
    const again = await clinic.platform("POST", "/organizations", { organization: { name: "Again", slug } });
    expect(again).toMatchObject({ status: 422 });
    expect((await other.platform("GET", other.base)).status).toBe(200);
    const left = await done(remove(clinic, "--yes"));
    expect(left).toContain("files of recordings: 0\n");
    expect(left).not.toMatch(/ \d+ rows/);
  });
});
