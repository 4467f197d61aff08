import { lt } from "drizzle-orm";
import type { CleanUp } from "../../database/clean_up.ts";
import { builder, type Placeholders, preparedQuery } from "../../database/queries.ts";
import { isInTurn, type Turn, workOff } from "../../database/turns.ts";
import { dateOf } from "../../http/dates.ts";
import { DAY } from "../../units.ts";
import { isOfOneClient } from "./usage.sql.ts";
import { organizationDays } from "./usage.table.ts";

const { organization_id, date } = organizationDays;

const deleteOldDays = preparedQuery((old: Placeholders<Turn & { before: string }>) =>
  builder
    .delete(organizationDays)
    .where(
      isInTurn(organizationDays, { time: date, where: lt(date, old.before), indexed: isOfOneClient }, old),
    )
    .returning({ organization_id }),
);

/** A client's quota covers only one day. */
export const deleteOldClientDays: CleanUp = ({ db, now }) =>
  workOff(db, (turn) => deleteOldDays({ ...turn, before: dateOf(now - DAY) }));
