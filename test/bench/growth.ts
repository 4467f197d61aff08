/** Lists of organizations of several sizes: what grows with an organization, other than the page, is a fault. */
import { type Clinic, DAYS_AGO } from "./clinic.ts";
import { type Bench, type Effort, type Measured, measure } from "./measurement.ts";
import type { Operation } from "./operations.ts";

export const PER_PAGE = 25;

const DAYS = 366;

/** The lists that grow, by name. */
const lists: Record<string, (clinic: Clinic) => string> = {
  "Waiting rooms": () => "/waiting_rooms",
  Invites: () => "/invites",
  Calls: ({ provider }) => `/organization_users/${provider.id}/calls`,
  "Audit entries": ({ call }) => `${call.path}/egresses/${call.audited}/audit_logs`,
};

/** A page's figures, and how many rows it may read; a page in the middle of a list may read more. */
export interface Grown extends Measured {
  bound?: number;
}

export async function measureGrowth(
  bench: Bench,
  clinic: Clinic,
  effort: Effort,
  progress: (measured: Grown) => void,
): Promise<Grown[]> {
  const grown: Grown[] = [];
  const add = async (name: string, path: string, bound?: number) => {
    const operation: Operation = { name: `GET ${path}`, door: "external", example: () => ({ path }) };
    const measured = { ...(await measure(bench, clinic, operation, effort)), operation: name };
    grown.push(bound === undefined ? measured : { ...measured, bound });
    progress(grown.at(-1) as Grown);
  };
  for (const [name, pathOf] of Object.entries(lists)) {
    const path = pathOf(clinic);
    const { pagination } = await clinic.client("GET", `${path}?per_page=${PER_PAGE}`);
    const pages = { first: 1, middle: Math.ceil(pagination.total_pages / 2), last: pagination.total_pages };
    for (const [which, page] of Object.entries(pages))
      await add(
        `${name}, ${which} page`,
        `${path}?per_page=${PER_PAGE}&page=${page}`,
        which === "first" ? 4 * PER_PAGE + 10 : undefined,
      );
  }
  const [start, end] = [DAYS_AGO(DAYS - 1), DAYS_AGO(0)].map((time) => time.slice(0, 10));
  await add(`Call metrics, ${DAYS} days`, `/call_metrics?date_start=${start}&date_end=${end}`, DAYS + 10);
  return grown;
}
