import type { Operations } from "./operation.ts";
import { CALLS } from "./operations/calls.ts";
import { DELIVERY } from "./operations/delivery.ts";
import { JOINING } from "./operations/joining.ts";
import { MEMBERS } from "./operations/members.ts";
import { ORGANIZATIONS } from "./operations/organizations.ts";
import { RESULTS } from "./operations/results.ts";
import { ROOMS } from "./operations/rooms.ts";
import { VISITS } from "./operations/visits.ts";

export const OPERATIONS: Operations = {
  ...ORGANIZATIONS,
  ...MEMBERS,
  ...JOINING,
  ...ROOMS,
  ...VISITS,
  ...CALLS,
  ...RESULTS,
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
