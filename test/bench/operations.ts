import { type Example, unique } from "../support/clinic.ts";
import { examples } from "../support/examples.ts";
import { aCall, anEndedCall, aTranscript } from "../support/reports.ts";
import { spokenLines } from "../support/speech.ts";
import { AN_HOUR, type BenchClinic, dayBefore } from "./clinic.ts";

export interface Operation {
  /** Method and pattern. */
  name: string;
  example: (clinic: BenchClinic) => Example | Promise<Example>;
}

/** The metrics of as many days as allowed. */
const A_YEAR = `/call_metrics?date_start=${dayBefore(365)}&date_end=${dayBefore(0)}`;

const CALL = "/api/external/organization_users/:organization_user_id/calls/:call_id";

/** The operations of the table. All others are measured only if they are named, or compared with another checkout. */
const timed: Record<string, Operation["example"]> = {
  "GET /api/external/waiting_rooms/:slug": ({ slug }) => ({ path: `/waiting_rooms/${slug}--seeded-7` }),
  "GET /api/external/waiting_rooms": () => ({ path: "/waiting_rooms" }),
  "GET /api/external/call_metrics": () => ({ path: A_YEAR }),
  [`GET ${CALL}/transcript`]: ({ call }) => ({ path: `${call.results}/transcript` }),
  [`GET ${CALL}/egresses/:id`]: ({ call }) => ({ path: `${call.results}/egresses/${call.egress_id}` }),
  "POST /api/external/waiting_rooms": () => ({
    path: "/waiting_rooms",
    body: { waiting_room: { name: unique("Oncology"), is_active: true } },
  }),
  "PUT /api/platform/organizations/:organization_id/calls/:key": (clinic) => aCall(clinic, clinic.provider),
  "PUT /api/platform/organizations/:organization_id/calls/:key/transcript": async (clinic) => {
    const call = await anEndedCall(clinic, clinic.provider);
    return aTranscript(call, spokenLines(call.speakers, AN_HOUR));
  },
};

/** One operation for each route of both APIs. Those that are timed come first. */
const all: Record<string, Operation["example"]> = { ...timed };
for (const [api, ofApi] of Object.entries(examples))
  for (const [route, example] of Object.entries(ofApi)) all[route.replace(" ", ` /api/${api}`)] ??= example;

/** The benchmark has no bucket with files of the access log. */
const withoutFiles = ([name]: [string, unknown]) => !name.endsWith("/access_logs/:date");

export const operations: Operation[] = Object.entries(all)
  .filter(withoutFiles)
  .map(([name, example]) => ({ name, example }));

export const isTimed = ({ name }: Operation) => name in timed;
