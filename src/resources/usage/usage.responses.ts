import * as z from "zod";
import { count, day } from "../../http/wire.ts";
import { MAX_DAILY_ACCESS_LOGS, MAX_DAILY_WRITES, MAX_METRICS_DAYS, WRITE_SIZE } from "../../limits.ts";

export const usageSchema = z
  .object({
    date: day().meta({ description: "The UTC date.", example: "2026-01-31" }),
    writes: count().meta({
      description: `How often the organization's API clients have made or changed something: at most ${MAX_DAILY_WRITES} times. A request counts once for each ${WRITE_SIZE / 1024} KiB of its body that it begins; signing in, legal holds, changes of members, and deleting do not count.`,
      example: 212,
    }),
    access_log_entries: count().meta({
      description: `How many entries its API clients have caused in the access log. After ${MAX_DAILY_ACCESS_LOGS}, they can read and change nothing more that needs one. Entries of legal holds, changes of members, deleting, and reading the access log do not count, and are never refused.`,
      example: 4870,
    }),
    visits: count().meta({ description: "How many calls were first reported.", example: 96 }),
  })
  .meta({ id: "Usage", description: "What an organization stored on a date." });

export const usageOfDatesSchema = z.object({
  usage: z
    .array(usageSchema)
    .max(MAX_METRICS_DAYS)
    .describe("By date, oldest first. A date on which nothing was stored is left out."),
});
