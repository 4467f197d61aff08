import type * as z from "zod";
import { MAX_BULK_INVITES } from "../../limits.ts";
import type { Reference } from "../../openapi/operation.ts";
import {
  bulkInvite,
  bulkInviteFailure,
  bulkInviteProgress,
  bulkInviteProgressSchema,
  bulkInviteSchema,
} from "./bulk_invites.schemas.ts";

const queued: z.input<typeof bulkInvite> = {
  id: 91,
  status: "pending",
  total_count: 2,
  created_count: 0,
  failed_count: 0,
  created_at: "2026-01-31T09:30:00.000Z",
  updated_at: "2026-01-31T09:30:00.000Z",
};

const completed: z.input<typeof bulkInviteProgress> = {
  ...queued,
  status: "completed",
  created_count: 1,
  failed_count: 1,
  updated_at: "2026-01-31T09:30:04.000Z",
  failures: [{ row: 1, email: "paula@example.com", error: "The email has an account in the organization" }],
};

const fields = {
  id: "Identifies the bulk invite.",
  status: "Whether rows are still to be worked off.",
  total_count: "How many invites were asked for.",
  created_count: "How many of them were made.",
  failed_count: "How many of them could not be made.",
  created_at: "When they were asked for.",
  updated_at: "When the progress last changed.",
};

export const bulkInvitesReference: Reference = {
  tag: "Bulk invites",
  description: "Many invites at once, made in the background.",
  schemas: {
    BulkInvite: { schema: bulkInvite, description: "Many invites, asked for at once.", fields },
    BulkInviteProgress: {
      schema: bulkInviteProgress,
      description: "How far a bulk invite has come.",
      fields: { ...fields, failures: "The rows that made no invite, in the order of the request." },
    },
    BulkInviteFailure: {
      schema: bulkInviteFailure,
      description: "A row that made no invite.",
      fields: {
        row: "Its place in the request, counted from 0.",
        email: "The address that it names.",
        error: "Why it made no invite.",
      },
    },
  },
  external: {
    "POST /invites/bulk_create": {
      operationId: "createBulkInvite",
      summary: "Create many invites",
      description: `Up to ${MAX_BULK_INVITES} at once. They are made in the background; \`Location\` is where to ask how far they are. A row whose email is in an earlier row, has a pending invite or has an account fails alone; any other fault refuses the whole request.`,
      status: 201,
      headers: { Location: "Where the progress can be read." },
      requestExample: {
        organization_invites: [
          { email: "ines@example.com", display_name: "Ines Invited", role_names: ["provider"] },
          { email: "paula@example.com", display_name: "Paula Provider", role_names: ["provider"] },
        ],
      },
      response: { schema: bulkInviteSchema, example: { bulk_invite: queued } },
      refusals: {
        422: "A role is above the caller's permission level. The text names the row, counted from 0; nothing is made.",
      },
    },
    "GET /bulk_invites/:id": {
      operationId: "getBulkInvite",
      summary: "Get the progress of a bulk invite",
      description: "With each row that made no invite, and why.",
      status: 200,
      response: { schema: bulkInviteProgressSchema, example: { bulk_invite: completed } },
    },
  },
};
