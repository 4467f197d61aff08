import type * as z from "zod";
import { MAX_KEY_LENGTH } from "../../limits.ts";
import { pageOf, paginationExample, type Reference } from "../../openapi/operation.ts";
import { callSchema, reportedCallSchema } from "./calls.schemas.ts";

const call: z.input<typeof callSchema> = {
  id: 501,
  organization_user_id: 12,
  waiting_room_id: 7,
  is_ended: true,
  started_at: "2026-01-31T09:30:00.000Z",
  ended_at: "2026-01-31T09:45:00.000Z",
};

const reportedCall: z.input<typeof reportedCallSchema> = { ...call, key: "call-5d20" };

const fields = {
  id: "Identifies the call.",
  organization_user_id: "The organization user whose call it is.",
  waiting_room_id: "The room from which the call was taken.",
  is_ended: "Whether the call has ended.",
  started_at: "When the call started.",
  ended_at: "When the call ended; null while it goes on.",
};

export const callsReference: Reference = {
  tag: "Calls",
  description:
    "The calls of an organization user, whose ids the paths of transcripts, SOAP notes and egresses take.",
  schemas: {
    Call: { schema: callSchema, description: "A video call.", fields },
    ReportedCall: {
      schema: reportedCallSchema,
      description: "A video call, as its reporter sees it.",
      fields: { ...fields, key: "The reporter's own key, unique in the service." },
    },
  },
  external: {
    "GET /organization_users/:organization_user_id/calls": {
      operationId: "listCalls",
      summary: "List the calls of an organization user",
      description: "Newest first.",
      status: 200,
      response: {
        schema: pageOf("calls", callSchema),
        example: { calls: [call], pagination: paginationExample },
      },
    },
  },
  platform: {
    "PUT /calls/:key": {
      operationId: "reportCall",
      summary: "Report a call",
      description:
        "The first report takes `waiting_room_slug`, `organization_user_id` and `started_at`, and fixes the room. Participants are those of the waiting room by the same key, or new ones, who need `display_name` and `role`; one who is left out of a later report stays. An ended call stays ended, and when it ends, whoever is still there has left.",
      status: 200,
      requestExample: {
        call: {
          waiting_room_slug: "riverside-clinic-cardiology",
          organization_user_id: 12,
          started_at: "2026-01-31T09:30:00Z",
          ended_at: "2026-01-31T09:45:00Z",
          participants: [
            {
              key: "participant-8c1f",
              display_name: "Rita Recipient",
              role: "recipient",
              joined_at: "2026-01-31T09:30:00Z",
              recording_consent: true,
            },
            {
              key: "participant-2b7e",
              display_name: "Paula Provider",
              role: "provider",
              user_id: 34,
              joined_at: "2026-01-31T09:30:00Z",
              recording_consent: true,
            },
          ],
        },
      },
      response: { schema: reportedCallSchema, example: reportedCall },
      refusals: {
        404: `No call has such a key: it is longer than ${MAX_KEY_LENGTH} characters, or has control characters.`,
        422: "A first report lacks a field, the body names a room or a user unknown to the organization, the key belongs to another organization, a participant is on another call, or times contradict each other.",
      },
    },
  },
};
