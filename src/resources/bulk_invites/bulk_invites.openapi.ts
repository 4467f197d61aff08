import * as z from "zod";
import { BULK_INVITE_PERSONAL_DATA_KEPT_FOR, DAY, MAX_BULK_INVITES } from "../../limits.ts";
import type { Reference } from "../../openapi/operation.ts";
import { BULK_INVITE_ID, INES, PAULA } from "../../openapi/story.ts";
import { inviteFields } from "../invites/invites.openapi.ts";
import {
  bulkInviteProgressResponseSchema,
  type bulkInviteProgressSchema,
  bulkInviteResponseSchema,
  type bulkInviteSchema,
} from "./bulk_invites.responses.ts";

type Progress = z.input<typeof bulkInviteProgressSchema>;

const NINA = { email: "nina@example.com", display_name: "Nina Newcomer" };

const { email, display_name } = INES;

const queued: z.input<typeof bulkInviteSchema> = {
  id: BULK_INVITE_ID,
  status: "pending",
  total_count: 4,
  created_count: 0,
  failed_count: 0,
  created_at: "2026-01-30T15:00:00.000Z",
  updated_at: "2026-01-30T15:00:00.000Z",
};

const completed: Progress = {
  ...queued,
  status: "completed",
  created_count: 1,
  failed_count: 3,
  updated_at: "2026-01-30T15:00:04.000Z",
  failures: [
    { row: 1, email: NINA.email, error: "The email is in an earlier row of the request" },
    { row: 2, email, error: "The email has a pending invite" },
    { row: 3, email: PAULA.email, error: "The email has an account in the organization" },
  ],
};

const faulty: Progress = {
  ...completed,
  id: BULK_INVITE_ID + 1,
  total_count: 2,
  created_count: 0,
  failed_count: 2,
  failures: [
    { row: 0, email: NINA.email, error: "The membership of this email ended after the request" },
    {
      row: 1,
      email: "nora@example.com",
      error: "The invite could not be made; please invite this person again",
    },
  ],
};

const erased: Progress = {
  ...completed,
  failures: completed.failures.map((failure) => ({ ...failure, email: null })),
};

const DAYS = BULK_INVITE_PERSONAL_DATA_KEPT_FOR / DAY;

export const bulkInvitesReference: Reference = {
  tag: "Bulk invites",
  description: "Many invites in one request. They are created in the background.",
  external: {
    "POST /invites/bulk_create": {
      operationId: "createBulkInvite",
      summary: "Create many invites",
      description: `Takes 1 to ${MAX_BULK_INVITES} rows. A fault in a row, such as a role that is not allowed, refuses the whole request: its text names the row, counted from 0, and no invite is created. Otherwise the rows are stored, and the invites are created in the background, most often within seconds. Read the progress at the path in the header \`Location\`, or wait for the event \`bulk_invite.completed\`. A row fails by itself, in the background, if its email is also in an earlier row, has a pending invite or has an account in the organization, or if the membership of this email ends before the row is processed.`,
      status: 201,
      headers: {
        Location: {
          description: "The path at which to read the progress.",
          required: true,
          example: `/api/external/bulk_invites/${BULK_INVITE_ID}`,
          schema: z
            .string()
            .max(100)
            .regex(/^\/api\/external\/bulk_invites\/\d+$/),
        },
      },
      request: {
        fields: {
          organization_invites: "The invites: a row for each person.",
          ...inviteFields("organization_invites"),
        },
        example: {
          organization_invites: [
            { ...NINA, role_names: ["provider"] },
            { ...NINA, role_names: ["provider_assistant"] },
            { email, display_name, role_names: ["provider"] },
            { email: PAULA.email, display_name: PAULA.display_name, role_names: ["provider"] },
          ],
        },
      },
      response: { schema: bulkInviteResponseSchema, example: { bulk_invite: queued } },
      errors: {
        422: [
          `organization_invites: must hold at most ${MAX_BULK_INVITES} invites`,
          "organization_invites.2.role_names: organization_admin is above your permission level; you may assign provider_assistant, provider",
        ],
      },
    },
    "GET /bulk_invites/:id": {
      operationId: "getBulkInvite",
      summary: "Get the progress of a bulk invite",
      description: `Invites that were created are in \`GET /invites\`. ${DAYS} days after the request, the emails and names of its rows are deleted: failures then have null instead of the email, and rows that are still pending fail. The rest stays.`,
      status: 200,
      parameters: { id: { description: "The id of the bulk invite.", example: BULK_INVITE_ID } },
      response: {
        schema: bulkInviteProgressResponseSchema,
        examples: {
          "Still pending": { bulk_invite: { ...queued, failures: [] } },
          "Completed: one invite, and three rows that failed": { bulk_invite: completed },
          "Other reasons for which rows fail": { bulk_invite: faulty },
          [`After ${DAYS} days`]: { bulk_invite: erased },
        },
      },
      errors: { 404: ["Bulk invite not found"] },
    },
  },
};
