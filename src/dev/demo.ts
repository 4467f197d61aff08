/** `npm run demo`: tours the product on a local server, or plays visits in an organization of a deployed service. */
import { UsageError } from "./command.ts";
import { USAGE, values } from "./demo_arguments.ts";

if (values.url === undefined && values.organization === undefined) await import("./demo_tour.ts");
else {
  const { playVisits } = await import("./demo_visits.ts");
  await playVisits(values).catch((error: Error) => {
    process.exitCode = 1;
    process.stderr.write(`${error.message}\n${error instanceof UsageError ? USAGE : ""}`);
  });
}
