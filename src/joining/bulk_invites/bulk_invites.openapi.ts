import * as z from "zod";
import { invalidBody } from "../../http/errors.ts";
import { BULK_INVITE_PERSONAL_DATA_KEPT_FOR, BULK_ROWS_PERIOD } from "../../lifetimes.ts";
import { MAX_BULK_INVITES, MAX_BULK_ROWS, MAX_UNUSED_INVITES } from "../../limits.ts";
import { exampleOf } from "../../openapi/examples.ts";
import type { Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { invalidClient } from "../../organization/api_clients/api_clients.refusals.ts";
import { notAssignable } from "../../organization/roles/roles.openapi.ts";
import { DAY, grouped, HOUR } from "../../units.ts";
import { inviteSchema, ROLE_NAMES } from "../invites/invites.responses.ts";
import * as refusals from "./bulk_invites.refusals.ts";
import * as responses from "./bulk_invites.responses.ts";

type Progress = z.input<typeof responses.bulkInviteProgressSchema>;

const { email, display_name } = story.INES;

const completed: Progress = {
  ...exampleOf(responses.bulkInviteSchema),
  status: "completed",
  created_count: 1,
  failed_count: 3,
  updated_at: "2026-01-30T15:00:04.000Z",
  failures: [
    { row: 1, email: story.NINA.email, error: refusals.ROW_FAULTS.repeated },
    { row: 2, email, error: refusals.ROW_FAULTS.pendingInvite({ id: story.INVITE_ID, expired_at: null }) },
    { row: 3, email: story.PAULA.email, error: refusals.ROW_FAULTS.account },
  ],
};

const DAYS = BULK_INVITE_PERSONAL_DATA_KEPT_FOR / DAY;

/** A row has the same fields as the invite that is created from it. */
const descriptionOfField = (field: "email" | "display_name") => inviteSchema.shape[field].description ?? "";

export const bulkInvitesReference: Reference = {
  tag: "Bulk invites",
  description: "Many invites in one request. They are created in the background.",
  external: {
    "POST /invites/bulk_create": {
      operationId: "createBulkInvite",
      summary: "Create many invites",
      description: `Takes 1 to ${grouped(MAX_BULK_INVITES)} rows. If a row is invalid, for example because of a role that is not allowed, the whole request is refused: the error names the row, counted from 0, and no invite is created. Otherwise the rows are stored, and the invites are created in the background, usually within seconds. Read the progress at the path in the \`Location\` header, or wait for the \`bulk_invite.completed\` event. A single row fails in the background if its email is also in an earlier row, has a pending invite, expired or not, or has an account in the organization; if the membership of this email ends before the row is processed; if the organization has ${grouped(MAX_UNUSED_INVITES)} unused invites; or if its mail would exceed a daily limit. Unprocessed rows fail if the user who sent the request leaves the organization or may no longer give their roles. An organization can send up to ${grouped(MAX_BULK_ROWS)} rows in ${BULK_ROWS_PERIOD / HOUR} hours.`,
      headers: {
        Location: {
          description: "The path of the bulk invite, which shows its progress.",
          required: true,
          example: `/api/external/bulk_invites/${story.BULK_INVITE_ID}`,
          schema: z
            .string()
            .max(100)
            .regex(/^\/api\/external\/bulk_invites\/\d+$/),
        },
      },
      request: {
        fields: {
          organization_invites: "The invites: one row for each person.",
          "organization_invites.email": descriptionOfField("email"),
          "organization_invites.display_name": descriptionOfField("display_name"),
          "organization_invites.role_names": ROLE_NAMES,
        },
        example: {
          organization_invites: [
            { ...story.NINA, role_names: ["provider"] },
            { ...story.NINA, email: "Nina@example.com", role_names: ["provider_assistant"] },
            { email, display_name, role_names: ["provider"] },
            { email: story.PAULA.email, display_name: story.PAULA.display_name, role_names: ["provider"] },
          ],
        },
      },
      response: { schema: responses.bulkInviteResponseSchema },
      errors: [
        invalidBody(`organization_invites: ${refusals.TOO_MANY_ROWS}`),
        invalidBody(`organization_invites.0.returning_user_id: ${refusals.NO_RETURN_IN_BULK}`),
        ...notAssignable("organization_invites.2.role_names"),
        refusals.tooManyBulkRows(),
        invalidClient(),
      ],
    },
    "GET /bulk_invites/:id": {
      operationId: "getBulkInvite",
      summary: "Get the progress of a bulk invite",
      description: `\`GET /invites\` lists the created invites. ${DAYS} days after the request, the emails and names of its rows are deleted: the email of a failure becomes null, and rows that are still pending fail. Everything else stays.`,
      parameters: { id: { description: "The id of the bulk invite.", example: story.BULK_INVITE_ID } },
      response: {
        schema: responses.bulkInviteProgressResponseSchema,
        examples: { "Completed: one invite and three failed rows": { bulk_invite: completed } },
      },
      errors: [refusals.bulkInviteNotFound()],
    },
  },
};
