import type { EventType } from "../../database/enums.ts";
import * as story from "../../openapi/story.ts";

/* The Worker sends the documented examples too, to webhook endpoints that are tested. */

export const EXAMPLE_IDS = {
  organization_user_id: story.PAULA.id,
  call_id: story.CALL.id,
  egress_id: story.EGRESS.id,
  participant_id: story.RITAS_PARTICIPANT.id,
  invite_id: story.INVITE_ID,
  bulk_invite_id: story.BULK_INVITE_ID,
  api_client_id: story.API_CLIENT.id,
  waiting_room_id: story.CARDIOLOGY.id,
  waiting_room_sub_id: story.SUB_ID,
  visit_id: story.HELD_VISIT.id,
  date: story.SEALED_DATE,
  seal_sha256: story.SEAL_SHA256,
};

type Ids = Partial<typeof EXAMPLE_IDS>;

type IdName = keyof Ids;

type Family = EventType extends `${infer Name}.${string}` ? Name : never;

const OF_CALL: IdName[] = ["organization_user_id", "call_id"];

const IDS: Record<Family, IdName[]> = {
  call: OF_CALL,
  participant: ["waiting_room_id", "participant_id"],
  transcript: OF_CALL,
  soap_note: OF_CALL,
  egress: [...OF_CALL, "egress_id"],
  consent: [...OF_CALL, "participant_id"],
  invite: ["invite_id"],
  bulk_invite: ["bulk_invite_id"],
  organization_user: ["organization_user_id"],
  organization: [],
  api_client: ["api_client_id"],
  waiting_room: ["waiting_room_id"],
  waiting_room_sub: ["waiting_room_id", "waiting_room_sub_id"],
  visit: ["visit_id"],
  access_log: ["date", "seal_sha256"],
};

/** `ifThereIs` lists the optional ids. */
export function idsOfType(type: EventType): { always: IdName[]; ifThereIs: IdName[] } {
  const family = type.split(".")[0] as Family;
  return {
    always: type === "visit.started" ? [...IDS.visit, "call_id"] : IDS[family],
    ifThereIs: family === "participant" ? ["call_id", "organization_user_id"] : [],
  };
}

const ON_CALL = { call_id: story.CALL.id, organization_user_id: story.PAULA.id };

/** In order. The third element replaces ids that differ from the usual ones. */
export const STORY: Record<EventType, [id: number, created_at: string, ids?: Ids]> = {
  "api_client.created": [1001, story.SET_UP_AT],
  "waiting_room.created": [1002, story.SET_UP_AT],
  "organization.updated": [1029, "2026-01-26T09:00:00.000Z"],
  "waiting_room.updated": [1030, "2026-01-26T09:10:00.000Z"],
  "waiting_room.retired": [1031, "2026-01-26T09:20:00.000Z", { waiting_room_id: 6 }],
  "api_client.revoked": [1032, story.REVOKED_AT, { api_client_id: story.REVOKED_CLIENT.id }],
  "invite.mail_failed": [1033, "2026-01-27T10:00:02.000Z", { invite_id: 79 }],
  "organization_user.removed": [1034, "2026-01-28T16:00:00.000Z", { organization_user_id: story.FRED.id }],
  "invite.created": [1035, story.INVITED_AT],
  "bulk_invite.completed": [1036, "2026-01-30T15:00:04.000Z"],
  "visit.created": [1037, story.HELD_VISIT_PLANNED_AT],
  "call.started": [1038, story.STARTED_AT],
  // The call's first report says that Rita waited for it.
  "participant.waiting": [1039, story.STARTED_AT, ON_CALL],
  "participant.joined": [1040, story.STARTED_AT, ON_CALL],
  "visit.started": [1041, story.STARTED_AT],
  "egress.started": [1042, story.RECORDED_FROM],
  "call.ended": [story.EVENT_ID, story.ENDED_AT],
  "participant.left": [1044, story.ENDED_AT, ON_CALL],
  "egress.ended": [1045, story.ENDED_AT],
  "transcript.finalized": [1046, "2026-01-31T09:45:20.000Z"],
  "soap_note.finalized": [1047, "2026-01-31T09:46:00.000Z"],
  "call.updated": [1048, "2026-01-31T09:47:10.000Z"],
  "call.results_ready": [1049, "2026-01-31T09:50:02.000Z"],
  "visit.ended": [1050, story.HELD_VISIT_ENDED_AT],
  "access_log.sealed": [1052, story.SEALED_AT],
  "invite.accepted": [1053, story.ACCEPTED_AT],
  "organization_user.added": [1054, story.ACCEPTED_AT, { organization_user_id: story.INES.id }],
  "visit.updated": [1055, "2026-02-03T10:00:00.000Z", { visit_id: 502 }],
  "visit.cancelled": [1056, "2026-02-03T10:05:00.000Z", { visit_id: 503 }],
  "visit.missed": [1057, "2026-02-03T12:00:05.000Z", { visit_id: 502 }],
  "organization_user.updated": [1058, "2026-02-03T12:10:00.000Z", { organization_user_id: story.ANN.id }],
  "consent.withdrawn": [1059, story.WITHDRAWN_AT],
  "transcript.corrected": [1060, story.CORRECTED_AT],
  "soap_note.corrected": [1061, story.CORRECTED_AT],
  "transcript.deleted": [1062, story.WITHDRAWN_AT],
  "soap_note.deleted": [1063, story.WITHDRAWN_AT],
  "participant.updated": [1064, story.WITHDRAWN_AT, ON_CALL],
  "waiting_room_sub.changed": [1065, story.PLANNED_AT],
  "egress.deleted": [30_417, story.RECORDING_DELETED_AT],
};

export function exampleEvent(type: EventType): {
  id: number;
  type: EventType;
  created_at: string;
  data: Ids;
} {
  const [id, created_at, others] = STORY[type];
  const data = Object.fromEntries(idsOfType(type).always.map((name) => [name, EXAMPLE_IDS[name]]));
  return { id, type, created_at, data: { ...data, ...others } };
}
