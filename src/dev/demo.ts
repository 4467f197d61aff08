/** `npm run demo`: tours the product on a local server, or plays visits in an organization of a deployed service. */
import { endingWith } from "./command.ts";
import { USAGE, values } from "./demo_arguments.ts";

if (values.url === undefined && values.organization === undefined) await import("./demo_tour.ts");
else await endingWith(USAGE, async () => (await import("./demo_visits.ts")).playVisits(values));
