import { env } from "cloudflare:workers";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { aCall } from "../support/calls.ts";
import { expectRefusal } from "../support/expectations.ts";
import { given, type Organization, unique } from "../support/organization.ts";
import { AUDIT_SIGNING_KEY, closedAt } from "../support/seals.ts";
import { makeShards } from "../support/sharded_visits.ts";
import { aShardedService, isDown } from "../support/shards.ts";
import { keysIn } from "../support/storage.ts";

const REGIONS = {
  SHARD_REGIONS: "0=us,1=eu,2=us",
  RECORDINGS_EU: env.RECORDINGS_EU,
  AUDIT_LOGS_EU: env.AUDIT_LOGS_EU,
  RECORDINGS_S3_ENDPOINT_EU: "/eu",
  RECORDINGS_S3_BUCKET_EU: "recordings-eu",
  RECORDINGS_S3_ACCESS_KEY_ID_EU: "eu-access-key",
  RECORDINGS_S3_SECRET_ACCESS_KEY_EU: "eu-secret-key",
};

const twoRegions = (more: object = {}) => aShardedService({ ...REGIONS, AUDIT_SIGNING_KEY, ...more });

const anOrganizationToMake = (more: object = {}) => ({
  organization: { name: "Clinic", slug: unique("org"), ...more },
});

beforeAll(makeShards);

// Other files list all organizations without these databases.
afterAll(() => env.DB.exec("update places set deleted_at = 1 where shard > 0"));

afterEach(() => {
  vi.useRealTimers();
});

/** The databases and buckets in which a text occurs. */
async function placesOf(text: string): Promise<string[]> {
  const { DB, SPARE_1, SPARE_2, RECORDINGS, AUDIT_LOGS, RECORDINGS_EU, AUDIT_LOGS_EU } = env;
  const places: string[] = [];
  for (const [name, database] of Object.entries({ DB, SPARE_1, SPARE_2 })) {
    const { results } = await database
      .prepare(
        `select tables.name as name, group_concat('quote("' || columns.name || '")', '||') as whole
         from sqlite_master as tables, pragma_table_info(tables.name) as columns
         where tables.type = 'table' and tables.name not glob '_cf_*' group by 1`,
      )
      .all<{ name: string; whole: string }>();
    for (const table of results) {
      const query = `select 1 from ${table.name} where instr(${table.whole}, ?) limit 1`;
      // Every organization has its place in the directory.
      if (table.name !== "places" && (await database.prepare(query).bind(text).first())) {
        places.push(name);
        break;
      }
    }
  }
  for (const [name, bucket] of Object.entries({ RECORDINGS, AUDIT_LOGS, RECORDINGS_EU, AUDIT_LOGS_EU }))
    if ((await keysIn(bucket)).some((key) => key.startsWith(`${text}/`))) places.push(name);
  return places;
}

async function aRecording(organization: Organization, bucket: R2Bucket) {
  const call = await aCall(organization);
  const storage_key = `${organization.slug}/${unique("visit")}.wav`;
  await bucket.put(storage_key, "the recording");
  const egress = await call.addEgress({ storage_key, status: "egress_ended" });
  const { url } = await given(organization.client.get(`${call.path}/egresses/${egress.id}`));
  return { egress, url: new URL(url) };
}

describe("An organization in a region", () => {
  it("lies with its rows, recordings and sealed days in that region, and nowhere else", async () => {
    const service = twoRegions();
    for (const [shard, region, database, suffix] of [
      [0, "us", "DB", ""],
      [1, "eu", "SPARE_1", "_EU"],
    ] as const) {
      const organization = await service.anOrganizationIn(shard, region);
      const { egress, url } = await aRecording(organization, suffix ? env.RECORDINGS_EU : env.RECORDINGS);
      expect(url.pathname).toContain(suffix ? "/eu/recordings-eu/" : "/cdn-cgi/local/r2/s3/recordings/");
      expect(url.searchParams.get("X-Amz-Credential")).toContain(suffix ? "eu-access-key" : "local-access");
      await service.runCron(closedAt(new Date().toISOString().slice(0, 10)));
      expect(await placesOf(organization.slug)).toEqual([database, `RECORDINGS${suffix}`]);
      expect(await placesOf(String(organization.id))).toEqual(
        expect.arrayContaining([database, `AUDIT_LOGS${suffix}`]),
      );
      await given(organization.platform.delete(`/egresses/${egress.egress_id}`));
      expect(await placesOf(organization.slug)).toEqual([database]);
    }
  });

  it("is created in the newest database of the region, or of the default region", async () => {
    const cases = [
      [{}, {}, "us", "SPARE_2"],
      [{}, { region: "us" }, "us", "SPARE_2"],
      [{}, { region: "eu" }, "eu", "SPARE_1"],
      [{ NEW_ORGANIZATIONS_SHARD: "0" }, { region: "us" }, "us", "DB"],
      [{ NEW_ORGANIZATIONS_SHARD: "0" }, { region: "eu" }, "eu", "SPARE_1"],
      [{ DEFAULT_REGION: "eu" }, {}, "eu", "SPARE_1"],
    ] as const;
    for (const [settings, input, region, place] of cases) {
      const body = anOrganizationToMake(input);
      const service = twoRegions(settings);
      const created = await given(service.platform.post("/organizations", body));
      expect(created.region).toBe(region);
      expect(await placesOf(created.slug)).toEqual([place]);
      expect(await given(service.platform.get(`/organizations/${created.id}`))).toEqual(created);
    }
  });

  it("shows its region to its clients, and keeps it in an update", async () => {
    const service = twoRegions();
    const organization = await service.anOrganizationIn(1, "eu");
    const shown = await given(organization.client.get("/organization"));
    expect(shown.region).toBe("eu");
    for (const update of [
      (body: object) => organization.client.put("/organization", body),
      (body: object) => service.platform.put(`/organizations/${organization.id}`, body),
    ]) {
      expect((await given(update({ organization: { region: "eu" } }))).region).toBe("eu");
      const refused = await update({ organization: { region: "us" } });
      expectRefusal(refused, 422, /^organization\.region: cannot be changed here/);
      expect(refused.headers.get("Error-Code")).toBe("field_not_changeable");
    }
  });

  it("is not completed in another region than the one in which its creation began", async () => {
    const service = twoRegions();
    const body = anOrganizationToMake({ region: "eu" });
    const create = (region: string) =>
      service.platform.post("/organizations", { organization: { ...body.organization, region } });
    expectRefusal(await service.during(1, isDown, () => create("eu")), 503);
    expectRefusal(await create("us"), 422, /^organization\.slug: is taken/);
    expect((await given(create("eu"))).region).toBe("eu");
  });
});

describe("Regions", () => {
  it("filter the platform's list of organizations, with the right total", async () => {
    const service = twoRegions();
    const totalIn = async (filter: string) =>
      (await given(service.platform.get(`/organizations?per_page=1${filter}`))).pagination.total_count;
    const before = [await totalIn("&region=eu"), await totalIn("&region=us"), await totalIn("")];
    const ids: number[] = [];
    for (const region of ["eu", "us", "eu"])
      ids.push((await given(service.platform.post("/organizations", anOrganizationToMake({ region })))).id);
    const after = [await totalIn("&region=eu"), await totalIn("&region=us"), await totalIn("")];
    expect(after.map((total, n) => total - before[n])).toEqual([2, 1, 3]);
    const last = `/organizations?region=eu&per_page=2&page=${Math.ceil(after[0] / 2)}`;
    const { organizations } = await given(service.platform.get(last));
    expect(organizations.at(-1)).toMatchObject({ id: ids[2], region: "eu" });
  });

  it("must have a database", async () => {
    const service = twoRegions();
    const refused = await service.platform.post("/organizations", anOrganizationToMake({ region: "ap" }));
    expectRefusal(refused, 422, "organization.region: must be one of us, eu");
    expectRefusal(
      await service.platform.get("/organizations?region=ap"),
      400,
      /^region: must be one of us, eu/,
    );
    const without = aShardedService();
    const none = await without.platform.post("/organizations", anOrganizationToMake({ region: "eu" }));
    expectRefusal(none, 422, "organization.region: must be left out: the service has no regions");
    expectRefusal(await without.platform.get("/organizations?region=eu"), 400);
  });

  it.each([
    [{ AUDIT_LOGS_EU: null }, "AUDIT_LOGS_EU"],
    [{ RECORDINGS_S3_BUCKET_EU: " " }, "RECORDINGS_S3_BUCKET_EU"],
    [{ RECORDINGS_S3_ENDPOINT_EU: "eu" }, "RECORDINGS_S3_ENDPOINT_EU"],
    [{ SHARD_REGIONS: "0=us,1=eu" }, "SHARD_REGIONS"],
    [{ SHARD_REGIONS: "0=us,1=EU,2=us" }, "SHARD_REGIONS"],
    [{ DEFAULT_REGION: "ap" }, "DEFAULT_REGION"],
  ])("lead to 503 of GET /health if something is missing or wrong: %o", async (settings, name) => {
    const service = twoRegions({ ...settings });
    const answer = await service.fetcher(new Request("https://service.test/health"));
    expect([answer.status, await answer.json()]).toEqual([
      503,
      { error: `The service is not ready: set ${name}` },
    ]);
  });

  it("never fall back to the first region's buckets and settings", async () => {
    const organization = await twoRegions().anOrganizationIn(1, "eu");
    const broken = twoRegions({ RECORDINGS_S3_BUCKET_EU: undefined });
    expectRefusal(await organization.client.through(broken.fetcher).get("/waiting_rooms"), 500);
    await given(broken.platform.post("/organizations", anOrganizationToMake({ region: "us" })));
  });
});
