/** The process of the attack. It starts and stops when its parent says so. */
import { anOrganization } from "../e2e/support/organization.ts";
import type { Attacker } from "./attack_requests.ts";
import { CLIENT, WAYS } from "./attack_ways.ts";

/** The most requests that are open at once if the server falls behind: the client waits for no response. */
const MOST_AT_ONCE = 700;

const [name = "", url = "", data = ""] = process.argv.slice(2);
const way = WAYS[name];
if (!way) throw new Error(`There is no way ${name}`);

const clinic = await anOrganization(url, { name: "Attacker" });

const attacker: Attacker = {
  ...clinic,
  url,
  data,
  aClient: async (organization_user_id) => (await clinic.addClient(organization_user_id)).credentials,
};

const send = await way.prepare(attacker);
let statuses: Record<string, number> = {};
let open = 0;
let pace: ReturnType<typeof setInterval> | undefined;

process.on("message", (message) => {
  if (message === "begin") {
    const began = performance.now();
    let sent = 0;
    pace = setInterval(() => {
      // Sends as many requests as are due by now, because a timer may be late.
      for (; sent < ((performance.now() - began) / 60_000) * (way.perMinute ?? CLIENT) + 1; sent++) {
        if (open >= MOST_AT_ONCE) continue;
        open++;
        send()
          .catch(() => 0)
          .then((status) => {
            open--;
            statuses[status] = (statuses[status] ?? 0) + 1;
          });
      }
    }, 5);
  }
  if (message === "stop") {
    clearInterval(pace);
    process.send?.(statuses);
    statuses = {};
  }
});
process.send?.("ready");
