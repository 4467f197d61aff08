import type { Operations } from "./operation.ts";
import { MEMBERS } from "./operations/members.ts";
import { ORGANIZATIONS } from "./operations/organizations.ts";
import { ROOMS } from "./operations/rooms.ts";

export const OPERATIONS: Operations = { ...ORGANIZATIONS, ...MEMBERS, ...ROOMS };
