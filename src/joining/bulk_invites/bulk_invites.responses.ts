import * as z from "zod";
import { count, email, id, name, timestamp } from "../../http/wire.ts";
import { BULK_INVITE_PERSONAL_DATA_KEPT_FOR } from "../../lifetimes.ts";
import { MAX_BULK_INVITES } from "../../limits.ts";
import { field, named } from "../../openapi/schemas.ts";
import * as story from "../../openapi/story.ts";
import { DAY } from "../../units.ts";

const rows = () => count().max(MAX_BULK_INVITES);

export const bulkInviteSchema = named("BulkInvite", "A request for many invites.", {
  id: id().meta({ description: "The id of the bulk invite.", example: story.BULK_INVITE_ID }),
  status: z.enum(["pending", "completed"]).meta({
    description: "`pending` while rows are still being processed, then `completed`, even if rows failed.",
    example: "pending",
  }),
  total_count: rows().min(1).meta({ description: "The number of rows in the request.", example: 4 }),
  created_count: field(rows(), "The number of rows that created an invite so far.", 0),
  failed_count: rows().meta({ description: "The number of rows that failed so far.", example: 0 }),
  created_at: field(timestamp(), "When the request was accepted.", story.MANY_INVITED_AT),
  updated_at: timestamp().meta({
    description: "When rows were last processed; until then, `created_at`.",
    example: story.MANY_INVITED_AT,
  }),
});

export const bulkInviteResponseSchema = z.object({
  bulk_invite: bulkInviteSchema.describe("The bulk invite. None of its rows has been processed yet."),
});

export const bulkInviteFailureSchema = named("BulkInviteFailure", "A row that failed.", {
  row: count()
    .max(MAX_BULK_INVITES - 1)
    .describe("The position of the row in the request, counted from 0."),
  email: email()
    .nullable()
    .describe(
      `The email address in the row, in lower case; null if the bulk invite is more than ${BULK_INVITE_PERSONAL_DATA_KEPT_FOR / DAY} days old.`,
    ),
  error: name().describe("Why the row failed. A text for people, not for programs."),
});

export const bulkInviteProgressSchema = named("BulkInviteProgress", "The progress of a bulk invite.", {
  ...bulkInviteSchema.shape,
  failures: z
    .array(bulkInviteFailureSchema)
    .max(MAX_BULK_INVITES)
    .describe("The rows that have failed so far, in the order of the request."),
});

export const bulkInviteProgressResponseSchema = z.object({
  bulk_invite: bulkInviteProgressSchema.describe("The bulk invite and its progress so far."),
});
