import * as z from "zod";
import { count, day } from "../../http/wire.ts";
import * as limits from "../../limits.ts";
import { field, named } from "../../openapi/schemas.ts";
import { grouped } from "../../units.ts";

const usageSchema = named("Usage", "The usage of an organization on a date.", {
  date: day().meta({ description: "The UTC date.", example: "2026-01-31" }),
  writes: count().meta({
    description: `The number of times that the organization's API clients created or changed something, at most ${grouped(limits.MAX_DAILY_WRITES)}. A request counts once for each ${limits.WRITE_SIZE / 1024} KiB of its body, or part thereof; a correction, of the text that it replaces if that is longer. Sign-ins, legal holds, changes that only take rights away, and deletions do not count.`,
    example: 212,
  }),
  writes_limit: field(count(), "The maximum number of writes on a date.", limits.MAX_DAILY_WRITES),
  access_log_entries: count().meta({
    description: `The number of access log entries that its API clients caused. After ${grouped(limits.MAX_DAILY_ACCESS_LOGS)}, they can no longer read or change anything that needs an entry. Entries for sign-ins, legal holds, changes that only take rights away, deletions, and reads of the access log do not count.`,
    example: 4870,
  }),
  access_log_entries_limit: count().meta({
    description: "The maximum number of these entries on a date.",
    example: limits.MAX_DAILY_ACCESS_LOGS,
  }),
  visits: count().meta({ description: "The number of calls reported for the first time.", example: 96 }),
});

export const usageOfDatesSchema = z.object({
  usage: z
    .array(usageSchema)
    .max(limits.MAX_METRICS_DAYS)
    .describe("The usage by date, oldest first. Dates without usage are omitted."),
  waiting_rooms_count: count().meta({
    description: "The number of waiting rooms that the organization has created, retired ones included.",
    example: 14,
  }),
  waiting_rooms_limit: count().meta({
    description: "The maximum number of waiting rooms, retired ones included.",
    example: limits.MAX_WAITING_ROOMS,
  }),
});
