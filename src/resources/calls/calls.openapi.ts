import type * as z from "zod";
import { MAX_KEY_LENGTH } from "../../limits.ts";
import { busy, onePage, pageOf, type Reference } from "../../openapi/operation.ts";
import { callSchema, reportedCallSchema } from "./calls.responses.ts";

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
  id: "The id of the call.",
  organization_user_id: "The organization user who held the call.",
  waiting_room_id: "The waiting room that the participants came from.",
  is_ended: "Whether the call has ended.",
  started_at: "When the call started.",
  ended_at: "When the call ended; null while it is going on.",
};

export const callsReference: Reference = {
  tag: "Calls",
  description: "Video calls. The paths of transcripts, SOAP notes and egresses contain the id of a call.",
  schemas: {
    Call: { schema: callSchema, description: "A video call.", fields },
    ReportedCall: {
      schema: reportedCallSchema,
      description: "A video call, with its reporter's key.",
      fields: { ...fields, key: "The reporter's own key for the call, unique in the service." },
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
        example: { calls: [call], pagination: onePage(1) },
      },
    },
  },
  platform: {
    "PUT /calls/:key": {
      operationId: "reportCall",
      summary: "Report a call",
      description:
        "The first report needs `waiting_room_slug`, `organization_user_id` and `started_at`. It fixes the room of the call; later reports can leave the slug out. A personal room that was retired because its owner is no longer a provider can still be named for a call that started before that. A participant with the key of a participant in the waiting room is the same participant. A new participant needs `display_name` and `role`. Participants who are left out of a later report stay on the call. An ended call stays ended. When a call ends, all its participants have left. While `legal_hold` is true, neither retention nor a request deletes the recordings, the transcript or the SOAP note of the call; null ends the hold.",
      status: 200,
      request: {
        fields: {},
        example: {
          call: {
            waiting_room_slug: "riverside-clinic--cardiology",
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
      },
      response: { schema: reportedCallSchema, example: reportedCall },
      refusals: {
        404: `The key cannot exist: it is longer than ${MAX_KEY_LENGTH} characters or contains control characters.`,
        422: "A first report lacks a field, the room or a user does not exist in the organization, the key belongs to another organization, a participant is on another call, or an end is before its start.",
        503: busy,
      },
    },
  },
};
