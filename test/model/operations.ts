import type { Operations } from "./operation.ts";
import { aCall, aKey, CALLS } from "./operations/calls.ts";
import { DELIVERY } from "./operations/delivery.ts";
import { JOINING } from "./operations/joining.ts";
import { MEMBERS } from "./operations/members.ts";
import { ORGANIZATIONS } from "./operations/organizations.ts";
import { RESULTS } from "./operations/results.ts";
import { ROOMS } from "./operations/rooms.ts";
import { VISITS } from "./operations/visits.ts";

/** Mostly operations of one part of the API. Those of a call name one in their path. */
const inArea = (area: string, operations: Operations): Operations =>
  Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => {
      const path = /\{call_id\}/.test(name) ? aCall : /\/calls\/\{key\}/.test(name) ? aKey : undefined;
      return [name, { area, ...(path && { path }), ...operation }];
    }),
  );

export const OPERATIONS: Operations = {
  ...inArea("organization", ORGANIZATIONS),
  ...inArea("members", MEMBERS),
  ...inArea("members", JOINING),
  ...inArea("rooms", ROOMS),
  ...inArea("visits", VISITS),
  ...inArea("calls", CALLS),
  ...inArea("results", RESULTS),
  ...DELIVERY,
};

const some = (pattern: RegExp): Operations =>
  Object.fromEntries(Object.entries(OPERATIONS).filter(([name]) => pattern.test(name)));

/** The operations of a story. */
export const THEMES: Operations[] = [
  { ...ROOMS, ...some(/users$|participants\/\{key\}/) },
  { ...VISITS, ...some(/(POST|PUT|DELETE) .*waiting_room(s|_subs)|users$/) },
  { ...MEMBERS, ...JOINING, ...some(/ \/waiting_rooms$/) },
  { ...ORGANIZATIONS, ...MEMBERS, ...some(/ \/waiting_rooms$|\/roles$/) },
  { ...RESULTS, ...some(/platform .*calls\/\{key\}|legal_hold/) },
  { ...CALLS, ...some(/ \/waiting_rooms(\/\{slug\})?$/) },
  { ...DELIVERY, ...some(/ \/waiting_rooms$/) },
  OPERATIONS,
];
