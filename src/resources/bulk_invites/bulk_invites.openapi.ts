import * as z from "zod";
import { MAX_BULK_INVITES } from "../../limits.ts";
import type { Reference } from "../../openapi/operation.ts";
import {
  bulkInviteFailureSchema,
  bulkInviteProgressResponseSchema,
  bulkInviteProgressSchema,
  bulkInviteResponseSchema,
  bulkInviteSchema,
} from "./bulk_invites.responses.ts";

const queued: z.input<typeof bulkInviteSchema> = {
  id: 91,
  status: "pending",
  total_count: 2,
  created_count: 0,
  failed_count: 0,
  created_at: "2026-01-31T09:30:00.000Z",
  updated_at: "2026-01-31T09:30:00.000Z",
};

const completed: z.input<typeof bulkInviteProgressSchema> = {
  ...queued,
  status: "completed",
  created_count: 1,
  failed_count: 1,
  updated_at: "2026-01-31T09:30:04.000Z",
  failures: [{ row: 1, email: "paula@example.com", error: "The email has an account in the organization" }],
};

const fields = {
  id: "The id of the bulk invite.",
  status: "`pending` while rows are still being processed, then `completed`.",
  total_count: "The number of rows in the request.",
  created_count: "The number of rows that created an invite.",
  failed_count: "The number of rows that failed.",
  created_at: "When the request was accepted.",
  updated_at: "When the progress last changed.",
};

export const bulkInvitesReference: Reference = {
  tag: "Bulk invites",
  description: "Many invites in one request. They are created in the background.",
  schemas: {
    BulkInvite: { schema: bulkInviteSchema, description: "A request for many invites.", fields },
    BulkInviteProgress: {
      schema: bulkInviteProgressSchema,
      description: "The progress of a bulk invite.",
      fields: { ...fields, failures: "The rows that failed, in the order of the request." },
    },
    BulkInviteFailure: {
      schema: bulkInviteFailureSchema,
      description: "A row that failed.",
      fields: {
        row: "The position of the row in the request, counted from 0.",
        email: "The email address in the row. `null` if the bulk invite is more than 30 days old.",
        error: "Why the row failed.",
      },
    },
  },
  external: {
    "POST /invites/bulk_create": {
      operationId: "createBulkInvite",
      summary: "Create many invites",
      description: `Takes 1 to ${MAX_BULK_INVITES} rows. The invites are created in the background; the header \`Location\` says where to read the progress. If the email of a row is also in an earlier row, has a pending invite or has an account in the organization, only this row fails, in the background. A row also fails if the membership of its email ends before it is processed. Any other error in a row refuses the whole request.`,
      status: 201,
      headers: {
        Location: {
          description: "The path at which to read the progress.",
          example: "/api/external/bulk_invites/91",
          schema: z
            .string()
            .max(100)
            .regex(/^\/api\/external\/bulk_invites\/\d+$/),
        },
      },
      request: {
        fields: {},
        example: {
          organization_invites: [
            { email: "ines@example.com", display_name: "Ines Invited", role_names: ["provider"] },
            { email: "paula@example.com", display_name: "Paula Provider", role_names: ["provider"] },
          ],
        },
      },
      response: { schema: bulkInviteResponseSchema, example: { bulk_invite: queued } },
      refusals: {
        422: "A role is above the client's permission level. The text names the row, counted from 0. No invite is created.",
      },
    },
    "GET /bulk_invites/:id": {
      operationId: "getBulkInvite",
      summary: "Get the progress of a bulk invite",
      description:
        "Includes each row that failed, and why. 30 days after the request, the emails and names of its rows are deleted: failures then have `null` instead of the email, and rows that are still pending fail.",
      status: 200,
      response: { schema: bulkInviteProgressResponseSchema, example: { bulk_invite: completed } },
    },
  },
};
