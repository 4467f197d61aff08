import type { z } from "zod";
import { invalidQuery } from "../../http/errors.ts";
import { DEFAULT_METRICS_DAYS, MAX_METRICS_DAYS } from "../../limits.ts";
import * as story from "../../openapi/story.ts";
import { grouped } from "../../units.ts";
import * as refusals from "./metrics.ts";

/**
 * The parts that all metrics operations share.
 *
 * @param of the counted things, such as `calls`
 */
export const metricsOperation = <Schema extends z.ZodObject>(of: string, schema: Schema) => ({
  description: `Dates are in UTC, or with \`days=local\` in your organization's time zone. The range includes both dates. Without dates, it covers the last ${DEFAULT_METRICS_DAYS} days up to today. It can have up to ${grouped(MAX_METRICS_DAYS)} days.`,
  parameters: {
    date_start: {
      description: `The first date of the range. If omitted, the range has ${DEFAULT_METRICS_DAYS} days.`,
      example: "2026-01-01",
    },
    date_end: {
      description:
        "The last date of the range. If omitted, the range ends today, or on `date_start` if that is later.",
      example: "2026-01-31",
    },
    user_id: {
      description: `Counts only the ${of} that this user holds: a \`user_id\` from \`GET /organization_users\`. If omitted, the ${of} of the whole organization count.`,
      example: String(story.PAULA.user_id),
    },
    waiting_room_id: {
      description: `Counts only the ${of} in this waiting room: an \`id\` from \`GET /waiting_rooms\`.`,
      example: story.CARDIOLOGY.id,
    },
    days: {
      description:
        "`local` counts by the dates of the organization's `time_zone` (see `PUT /organization`), including days of 23 and 25 hours. A change of the time zone applies at once, to all dates. Omit it for UTC dates.",
      example: "local",
    },
  },
  response: { schema },
  refusals: { 404: "No user of the organization has this `user_id`, or no room has this `waiting_room_id`." },
  errors: [
    refusals.metricsRangeReversed(),
    refusals.metricsRangeTooLong("date_end"),
    refusals.metricsRangeTooLong("today"),
    refusals.metricsUserNotFound(),
    refusals.metricsRoomNotFound(),
    refusals.metricsRoomNotFound(story.PAULA.user_id),
    invalidQuery(`days: ${refusals.NOT_LOCAL}`),
  ],
});
