import { FROM_AFTER_TO } from "../../http/dates.ts";
import { ApiError, unprocessable } from "../../http/errors.ts";
import { VISIT_LINK_VALID_FOR } from "../../lifetimes.ts";
import { MAX_PLANNED_VISITS } from "../../limits.ts";
import { exampleOf } from "../../openapi/examples.ts";
import { metricsOperation } from "../../openapi/metrics.ts";
import { afterPosition, afterResponse, noPosition, type Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { HOUR } from "../../units.ts";
import * as refusals from "./visits.refusals.ts";
import {
  listedVisitSchema,
  redeemedVisitSchema,
  visitMetricsSchema,
  visitSchema,
} from "./visits.responses.ts";

const ended = exampleOf(visitSchema);
const planned = { ...ended, status: "planned" as const, call_ids: [], updated_at: ended.created_at };
const listed = exampleOf(listedVisitSchema);

const [{ id: participant_id, join_url: _, ...rita } = {}] = ended.participants;
const { starts_at, ends_at, external_reference, organization_user_id } = ended;
const plan = { waiting_room_slug: story.CARDIOLOGY.slug, starts_at, external_reference };
const paula = { role: "provider", display_name: story.PAULA.display_name, user_id: story.PAULA.user_id };

const slugOfRoom = "The present slug of the waiting room to which the links lead.";
const parameters = { id: { description: "The id of the visit.", example: story.VISIT.id } };

const faultsOfPlan = [
  refusals.visitRoomOutOfReach(),
  refusals.visitHolderOutOfReach(),
  refusals.visitTimesWrong(),
  refusals.visitIsPast(),
  refusals.visitTooFarAhead(),
  refusals.visitProviderWithoutUser(),
  refusals.visitParticipantsNotMembers(),
  unprocessable(`visit.participants: ${refusals.WRONG_NUMBER_OF_PARTICIPANTS}`),
];

export const visitsReference: Reference = {
  tag: "Visits",
  description: `Visits that are planned ahead, with a link for each who takes part: whoever comes by it is known, with name, role, user and reference, and the call leads back to the visit. The service has no calendar and sends no reminders: send the links yourself. A client reaches the visits whose holder it reaches, and those without a holder. An organization has at most ${MAX_PLANNED_VISITS} visits with the status \`planned\`. Names and references are erased as many days after its cancellation, the end of its last call or \`ends_at\`, whichever is earliest, as the organization keeps those of participants.`,
  external: {
    "GET /visits": {
      operationId: "listVisits",
      summary: "List the visits",
      description:
        "Lists the visits that the client reaches, by `starts_at`, without links. To read all, ask again with `next_after` as `after`. The parameters can be combined.",
      parameters: {
        from: { description: "Only visits that start on this date (UTC) or later.", example: "2026-01-31" },
        to: {
          description: "Only visits that start on this date (UTC) or earlier. It must not be before `from`.",
          example: "2026-02-28",
        },
        status: { description: "Only visits with this status.", example: "ended" },
        external_reference: {
          description: "Only visits with exactly this `external_reference`.",
          example: story.VISIT_REFERENCE,
        },
        organization_user_id: {
          description: "Only visits that this organization user holds.",
          example: String(story.PAULA.id),
        },
        after: afterPosition(story.VISIT_POSITION),
      },
      response: afterResponse("visits", listedVisitSchema, {
        "The last page": [[listed], null],
        "There are more": [[listed], story.VISIT_POSITION],
      }),
      errors: [new ApiError(400, `from: ${FROM_AFTER_TO}`), noPosition()],
    },
    "POST /visits": {
      operationId: "createVisit",
      summary: "Plan a visit",
      request: {
        fields: { "visit.waiting_room_slug": slugOfRoom, "visit.participants": "Who is to take part." },
        examples: {
          "Who takes part": { visit: { ...plan, participants: [rita] } },
          "With a provider, who has an account": {
            visit: { ...plan, organization_user_id, ends_at, participants: [rita, paula] },
          },
        },
      },
      response: { schema: visitSchema, example: planned },
      errors: [...faultsOfPlan, refusals.tooManyVisits()],
    },
    "GET /visits/:id": {
      operationId: "getVisit",
      summary: "Get a visit with its links",
      parameters,
      response: { schema: visitSchema, examples: { "A planned visit": planned, "It has ended": ended } },
      errors: [refusals.visitNotFound()],
    },
    "PUT /visits/:id": {
      operationId: "updateVisit",
      summary: "Change a visit",
      description:
        "What is left out stays. A list of participants is the whole list: one with an `id` is kept or changed, one without is new, and one who is not in it is removed, so that their link is void. Links go on working when times or the room change.",
      parameters,
      request: {
        fields: {
          "visit.waiting_room_slug": slugOfRoom,
          "visit.participants": "All who are to take part.",
          "visit.participants.id": "Of a participant who stays; left out for a new one.",
        },
        examples: {
          "A new link for a participant, as the old one went to somebody else": {
            visit: { participants: [rita] },
          },
          "Another time": { visit: { starts_at, ends_at } },
          "Another room, which a provider holds": { visit: { ...plan, organization_user_id } },
          "A corrected name": {
            visit: { participants: [{ id: participant_id, display_name: "Rita Rowe" }] },
          },
        },
      },
      response: { schema: visitSchema, example: planned },
      errors: [
        refusals.visitNotFound(),
        ...(["ended", "missed", "cancelled"] as const).map((status) =>
          refusals.visitStays(status, "changed", "planned or started"),
        ),
        refusals.visitErased(),
        ...faultsOfPlan,
        refusals.visitParticipantUnknown(),
        refusals.visitParticipantIncomplete(),
      ],
    },
    "DELETE /visits/:id": {
      operationId: "cancelVisit",
      summary: "Cancel a visit",
      description:
        "Its links are refused from then on. The visit stays in the list, as `cancelled`. Once more, it changes nothing.",
      parameters,
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
      ...metricsOperation("visits", visitMetricsSchema),
    },
  },
  platform: {
    "POST /visits/redeem": {
      operationId: "redeemVisitLink",
      summary: "Redeem the link of a visit",
      description: `For the web app, when somebody opens \`/meet/{slug}?visit={token}\`: who was invited, to which visit, and where to send them now. It can be redeemed any number of times, until ${VISIT_LINK_VALID_FOR / HOUR} hours after the end of the visit. It signs nobody in: links get forwarded.`,
      status: 200,
      request: {
        fields: { token: "The value of `visit` in the query of the `join_url`." },
        example: { token: story.VISIT_TOKEN },
      },
      response: { schema: redeemedVisitSchema, example: exampleOf(redeemedVisitSchema) },
      refusals: {
        404: "The token is not valid, the participant was removed from the visit, or the room was retired.",
      },
      errors: [
        refusals.visitLinkNotValid(),
        refusals.visitLinkWithdrawn(),
        refusals.visitRoomRetired(),
        refusals.visitWasCancelled(),
        refusals.visitIsOver(),
      ],
    },
  },
};
