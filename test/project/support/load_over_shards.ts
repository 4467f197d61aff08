/** How much more several databases get done than one. */

import { aProvider } from "../../support/clinic.ts";
import { aCall } from "../../support/reports.ts";
import { bindingsOfShards } from "./busy_shards.ts";
import { type ClinicInNode, openClinic } from "./clinic_in_node.ts";

/** Each batch keeps its database busy for so many milliseconds: longer than this process needs for a request. */
export const BUSY_FOR = 20;
export const DATABASES = 4;
const ORGANIZATIONS = 8;
const CALLERS_OF_EACH = 8;

export interface Load {
  name: string;
  /** Requests in a second, with one database and with several. */
  rates: number[];
}

type Member = Awaited<ReturnType<typeof aProvider>>;

const LOADS: Record<string, (clinic: ClinicInNode, provider: Member) => Promise<unknown>> = {
  "Clients read lists and metrics, and make rooms": async ({ client }) => {
    for (const path of ["/waiting_rooms", "/calls", "/events"]) await client("GET", path);
    await client("POST", "/waiting_rooms", { waiting_room: { name: "Cardiology", is_active: true } });
  },
  "The platform reports new calls, each four times": async (clinic, provider) => {
    const { path, body } = await aCall(clinic, provider);
    for (let report = 1; report <= 4; report++) await clinic.platform("PUT", path, body);
  },
};

export async function measureLoad(seconds: number): Promise<Load[]> {
  // Of an older call than this moment's, the service need not ask what has waited for it.
  Date.now = () => Math.floor(performance.timeOrigin + performance.now());
  const loads: Load[] = Object.keys(LOADS).map((name) => ({ name, rates: [] }));
  for (const count of [1, DATABASES]) {
    const env = bindingsOfShards(count, BUSY_FOR);
    const organizations = Array.from({ length: ORGANIZATIONS }, async (_, n) => {
      const clinic = await openClinic({ ...env, NEW_ORGANIZATIONS_SHARD: String(n % count) } as Env);
      return { clinic, provider: await aProvider(clinic) };
    });
    const opened = await Promise.all(organizations);
    for (const { name, rates } of loads) {
      // The clients become known.
      for (const { clinic, provider } of opened) await LOADS[name]?.(clinic, provider);
      let requests = 0;
      const end = performance.now() + seconds * 1000;
      const callers = opened.flatMap((each) => Array.from({ length: CALLERS_OF_EACH }, () => each));
      await Promise.all(
        callers.map(async ({ clinic, provider }) => {
          for (; performance.now() < end; requests += 4) await LOADS[name]?.(clinic, provider);
        }),
      );
      rates.push(requests / ((performance.now() - end) / 1000 + seconds));
    }
  }
  return loads;
}
