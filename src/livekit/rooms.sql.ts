import { desc, eq, or, sql } from "drizzle-orm";
import { type Placeholders, preparedQuery } from "../database/queries.ts";
import { calls } from "../database/schema.ts";
import { selectReportedCalls } from "../resources/calls/calls.sql.ts";
import { organizationOfAnySlug } from "../resources/waiting_rooms/waiting_rooms.slugs.ts";

/** How LiveKit names a room. Where it does not, a text is empty: no call has an empty key. */
interface RoomNames {
  sid: string;
  name: string;
}

/** The call of a room: the one whose key is the sid, else the one whose key is the name. */
export const callOfRoom = preparedQuery(({ sid, name }: Placeholders<RoomNames>) =>
  selectReportedCalls()
    .where(or(eq(calls.key, sid), eq(calls.key, name)))
    .orderBy(desc(sql`${calls.key} = ${sid}`))
    .limit(1),
);

/** The organization of the waiting room that has or had the slug. */
export const organizationOfSlug = preparedQuery(({ slug }: Placeholders<{ slug: string }>) =>
  organizationOfAnySlug(slug),
);
