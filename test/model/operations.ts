import type { Operations } from "./operation.ts";
import { JOINING } from "./operations/joining.ts";
import { MEMBERS } from "./operations/members.ts";
import { ORGANIZATIONS } from "./operations/organizations.ts";
import { ROOMS } from "./operations/rooms.ts";
import { VISITS } from "./operations/visits.ts";

export const OPERATIONS: Operations = { ...ORGANIZATIONS, ...MEMBERS, ...JOINING, ...ROOMS, ...VISITS };
