import * as limits from "../../limits.ts";
import type { Operation, Reference } from "../../openapi/operation.ts";
import { grouped } from "../../units.ts";
import { organizationNotFound } from "../organizations/organizations.refusals.ts";
import { usageRangeTooLong } from "./usage.refusals.ts";
import { usageOfDatesSchema } from "./usage.responses.ts";

const usage: Pick<Operation, "description" | "parameters" | "response"> = {
  description: `The range includes both dates. Without dates, it covers the last ${limits.DEFAULT_METRICS_DAYS} days up to today.`,
  parameters: {
    from: { description: "The first date, in UTC.", example: "2026-01-01" },
    to: { description: "The last date, in UTC. If omitted, it is today.", example: "2026-01-31" },
  },
  response: { schema: usageOfDatesSchema },
};

export const usageReference: Reference = {
  tag: "Usage",
  description: `Quotas limit how much an organization can store, so that no organization can fill the shared database. Per UTC day, its API clients can write ${grouped(limits.MAX_DAILY_WRITES)} times (a request counts once for each ${limits.WRITE_SIZE / 1024} KiB of its body) and cause ${grouped(limits.MAX_DAILY_ACCESS_LOGS)} entries in its access log; a single client can use at most ${limits.CLIENT_FRACTION * 100} percent of both. Quotas never block sign-in, legal holds, removing members or roles, deleting, or reading the access log. Such requests have their own daily limits: ${grouped(limits.MAX_DAILY_SIGN_INS)} sign-ins, and ${grouped(limits.MAX_DAILY_RESERVED)} access log entries of all others together. An organization can create ${grouped(limits.MAX_WAITING_ROOMS)} waiting rooms.`,
  external: {
    "GET /usage": {
      operationId: "listOwnUsage",
      summary: "List the usage of your organization",
      ...usage,
      errors: [usageRangeTooLong()],
    },
  },
  platform: {
    "GET /organizations/:organization_id/usage": {
      operationId: "listUsage",
      summary: "List the usage of an organization",
      ...usage,
      errors: [usageRangeTooLong(), organizationNotFound()],
    },
  },
};
