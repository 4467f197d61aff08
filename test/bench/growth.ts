import { MAX_SKIPPED } from "../../src/limits.ts";
import { type Bench, type Figures, measure } from "./measure.ts";
import { A_YEAR, operations } from "./operations.ts";

const PER_PAGE = 25;

/** The number of dates on which the organization user had calls. */
const DAYS = 366;

export interface Grown {
  name: string;
  figures: Figures;
  /** The most rows that the page may read. */
  bound: number;
}

/** The most rows that a single read or a report may read. */
const SINGLE_BOUND = 500;

const CALL = "/organization_users/:organization_user_id/calls/:call_id";

const SINGLE: Record<string, string> = {
  "A call": `GET /api/external${CALL}`,
  "Its participants": `GET /api/external${CALL}/participants`,
  "Its consents": `GET /api/external${CALL}/consents`,
  "Its transcript": `GET /api/external${CALL}/transcript`,
  "Its SOAP note": `GET /api/external${CALL}/soap_note`,
  "Its recordings": `GET /api/external${CALL}/egresses`,
  "A recording": `GET /api/external${CALL}/egresses/:id`,
  "A new call is reported": "PUT /api/platform/organizations/:organization_id/calls/:key",
  "A SOAP note is reported": "PUT /api/platform/organizations/:organization_id/calls/:key/soap_note",
  "A recording is reported": "PUT /api/platform/organizations/:organization_id/egresses/:egress_id",
};

/** Measures lists, single reads and reports, whose cost should not grow with the data. */
export async function measureGrowth(bench: Bench, latency: number): Promise<Grown[]> {
  const { client, call } = bench.clinic;
  const grown: Grown[] = [];
  const add = async (name: string, path: string, bound: number) => {
    const operation = { name: "GET /api/external", example: () => ({ path }) };
    const { ours } = await measure(bench, operation, undefined, { latency, cpu_blocks: 0, cpu_block: 0 });
    grown.push({ name, figures: ours, bound });
  };
  /** @param countedOf the number of rows that each page counts for its total, in a list of this length */
  const addPages = async (name: string, path: string, countedOf = (_total: number) => 0) => {
    const { total_pages, total_count } = (await client("GET", path)).pagination;
    const bound = 4 * PER_PAGE + 10 + countedOf(total_count);
    await add(`${name}, first page`, path, bound);
    const last = Math.min(total_pages, MAX_SKIPPED / PER_PAGE);
    await add(`${name}, last page`, `${path}?page=${last}`, bound + total_count);
  };
  await addPages("Waiting rooms", "/waiting_rooms", (total) => total);
  await addPages("Invites", "/invites");
  const calls = call.results.replace(/\/\d+$/, "");
  await add("Calls, first page", calls, 4 * PER_PAGE + 10);
  await add("Calls, last page", `${calls}?after=1.1`, 4 * PER_PAGE + 10);
  await addPages("Audit entries", `${call.results}/egresses/${call.egress_id}/audit_logs`);
  await add("Call metrics of a year", A_YEAR, DAYS + 10);
  for (const [name, operation] of Object.entries(SINGLE)) {
    const found = operations.find((each) => each.name === operation);
    if (!found) throw new Error(`There is no operation ${operation}`);
    const { ours } = await measure(bench, found, undefined, { latency, cpu_blocks: 0, cpu_block: 0 });
    grown.push({ name, figures: ours, bound: SINGLE_BOUND });
  }
  return grown;
}
