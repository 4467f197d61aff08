import type * as z from "zod";
import { invalidBody } from "../../http/errors.ts";
import { VISIT_LINK_VALID_FOR } from "../../lifetimes.ts";
import { MAX_PLANNED_VISITS, VISITS_LOOKED_THROUGH } from "../../limits.ts";
import { exampleOf } from "../../openapi/examples.ts";
import { afterPosition, afterResponse, dates, ETAG, type Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { metricsOperation } from "../../organization/metrics/metrics.openapi.ts";
import { organizationSuspended } from "../../organization/organizations/organizations.refusals.ts";
import { grouped, HOUR } from "../../units.ts";
import * as refusals from "./visits.refusals.ts";
import * as responses from "./visits.responses.ts";

const planned = exampleOf(responses.visitSchema);
const renamed = {
  ...planned,
  participants: planned.participants.map((each) => ({ ...each, display_name: "Rita Rowe" })),
  updated_at: story.PLAN_CHANGED_AT,
};
const held: z.input<typeof responses.listedVisitSchema> = {
  ...exampleOf(responses.listedVisitSchema),
  ...story.HELD_VISIT,
  organization_user_id: story.PAULA.id,
  external_reference: story.HELD_VISIT_REFERENCE,
  status: "ended",
  starts_at: story.STARTED_AT,
  ends_at: story.HELD_VISIT_ENDS_AT,
  call_ids: [story.CALL.id],
  created_at: story.HELD_VISIT_PLANNED_AT,
  updated_at: story.HELD_VISIT_ENDED_AT,
};

const [{ id: participant_id, join_url: _, ...rita } = {}] = planned.participants;
const { starts_at, ends_at, external_reference } = planned;
const plan = { waiting_room_slug: story.CARDIOLOGY.slug, starts_at, external_reference };
const paula = { role: "provider", display_name: story.PAULA.display_name, user_id: story.PAULA.user_id };

const slugOfRoom = "The current slug of the waiting room that the links lead to.";
const faultsOfPlan = [
  refusals.visitRoomOutOfReach(),
  refusals.visitHolderOutOfReach(),
  refusals.visitTimesWrong(),
  refusals.visitIsPast("starts_at"),
  refusals.visitIsPast("ends_at"),
  refusals.visitTooFarAhead("starts_at"),
  refusals.visitTooFarAhead("ends_at"),
  refusals.visitProviderWithoutUser(0),
  refusals.visitParticipantNotMember(0),
  invalidBody(`visit.participants: ${refusals.WRONG_NUMBER_OF_PARTICIPANTS}`),
];

export const visitsReference: Reference = {
  tag: "Visits",
  parameters: { id: { description: "The id of the visit.", example: story.VISIT.id } },
  description: `Visits planned ahead, with a link for each participant. The service recognizes a participant who uses the link, with name, role, user and reference, and the call refers back to the visit. The service has no calendar and sends no reminders: send the links yourself. A client has access to a visit if it has access to the visit's holder, or if the visit has no holder. A client that has access to the holder of one of the visit's calls, such as a substitute, can get the visit by its id. An organization can have up to ${grouped(MAX_PLANNED_VISITS)} visits with the status \`planned\`. A participant's name and reference are erased after the organization's \`participant_retention_days\`, counted from the end of their last wait or call, and from the cancellation or \`ends_at\`, whichever is later.`,
  external: {
    "GET /visits": {
      operationId: "listVisits",
      summary: "List the visits",
      description: `Lists the visits that the client has access to, ordered by \`starts_at\`, without links. To read all of them, repeat the request with \`next_after\` as \`after\` until it is null. With a reference, each request scans up to ${grouped(VISITS_LOOKED_THROUGH)} visits that have it, so a page can be empty although more pages follow. The parameters can be combined.`,
      parameters: {
        ...dates("visits that start"),
        status: { description: "Only visits with this status.", example: "ended" },
        external_reference: {
          description: "Only visits with exactly this `external_reference`.",
          example: story.HELD_VISIT_REFERENCE,
        },
        participant_reference: {
          description:
            "Only visits with a participant who has exactly this `external_reference`, for example the planned visits of one patient. The access log records such a request as a search.",
          example: story.RITAS_REFERENCE,
        },
        organization_user_id: {
          description: "Only visits that this organization user holds.",
          example: String(story.PAULA.id),
        },
        after: afterPosition(story.VISIT_POSITION),
      },
      response: {
        ...afterResponse("visits", responses.listedVisitSchema),
        example: { visits: [held], next_after: null },
      },
    },
    "POST /visits": {
      operationId: "createVisit",
      summary: "Plan a visit",
      description:
        "Plans a visit, and returns a personal link for each participant. A request repeated with its `Idempotency-Key` shows the visit again, as it was planned.",
      request: {
        fields: { "visit.waiting_room_slug": slugOfRoom, "visit.participants": "The participants." },
        examples: {
          "With one participant": { visit: { ...plan, participants: [rita] } },
          "With a provider, who has an account": {
            visit: { ...plan, organization_user_id: story.PAULA.id, ends_at, participants: [rita, paula] },
          },
        },
      },
      response: { schema: responses.visitSchema },
      errors: [...faultsOfPlan, refusals.tooManyVisits()],
    },
    "GET /visits/:id": {
      operationId: "getVisit",
      headers: ETAG,
      summary: "Get a visit with its links",
      response: { schema: responses.visitSchema },
      errors: [refusals.visitNotFound()],
    },
    "PUT /visits/:id": {
      operationId: "updateVisit",
      summary: "Update a visit",
      description:
        "Omitted fields keep their values. If `starts_at` changes without `ends_at`, the visit keeps its duration. A list of participants is the complete list: a participant with an `id` is kept or changed, one without an `id` is new, and one who is missing is removed, and their link becomes void. Links keep working when the times or the room change.",
      request: {
        fields: {
          "visit.waiting_room_slug": slugOfRoom,
          "visit.participants": "All participants.",
          "visit.participants.id": "The id of a participant who stays. Omit it for a new participant.",
        },
        examples: {
          "A corrected name": {
            visit: { participants: [{ id: participant_id, display_name: "Rita Rowe" }] },
          },
          "A new link for a participant whose old link went to the wrong person": {
            visit: { participants: [rita] },
          },
          "A new time": { visit: { starts_at, ends_at } },
          "Fields sent back unchanged": {
            visit: { ...plan, waiting_room_id: planned.waiting_room_id, status: planned.status },
          },
          "Another room, and a holder": { visit: { ...plan, organization_user_id: story.PAULA.id } },
        },
      },
      response: { schema: responses.visitSchema, example: renamed },
      errors: [
        refusals.visitNotFound(),
        ...(["ended", "missed", "cancelled"] as const).map((status) =>
          refusals.visitStays(status, "changed", "planned or started"),
        ),
        refusals.visitReferenceErased(),
        refusals.visitStatusStays(),
        refusals.visitRoomStays(),
        ...faultsOfPlan,
        refusals.visitParticipantUnknown(0),
        refusals.visitParticipantIncomplete(0),
        refusals.visitParticipantErased(0),
      ],
    },
    "DELETE /visits/:id": {
      operationId: "cancelVisit",
      summary: "Cancel a visit",
      description:
        "The links of the visit stop working. The visit stays in the list, as `cancelled`. Cancelling again changes nothing.",
      errors: [
        refusals.visitNotFound(),
        ...(["started", "ended", "missed"] as const).map((status) =>
          refusals.visitStays(status, "cancelled", "planned"),
        ),
      ],
    },
    "GET /visit_metrics": {
      operationId: "getVisitMetrics",
      summary: "Get visit metrics",
      ...metricsOperation("visits", responses.visitMetricsSchema),
    },
  },
  platform: {
    "POST /visits/redeem": {
      operationId: "redeemVisitLink",
      summary: "Redeem the link of a visit",
      description: `For the web app, when someone opens \`/meet/{slug}?visit={token}\`. Returns the invited participant, the visit, and the room to send the participant to now. A link can be redeemed any number of times, until ${VISIT_LINK_VALID_FOR / HOUR} hours after the end of the visit. It signs nobody in, because links get forwarded.`,
      status: 200,
      request: {
        fields: { token: "The value of `visit` in the query of the `join_url`." },
        example: { token: story.VISIT_TOKEN },
      },
      response: { schema: responses.redeemedVisitSchema },
      refusals: {
        404: "The token is not valid, the participant was removed from the visit, or the room was retired.",
      },
      errors: [
        refusals.visitLinkNotValid(),
        organizationSuspended(),
        refusals.visitLinkWithdrawn(),
        refusals.visitRoomRetired(),
        refusals.visitWasCancelled(),
        refusals.visitIsOver(),
      ],
    },
  },
};
