import * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { day } from "../../http/wire.ts";
import { lazily } from "../../memory.ts";
import type { accessLogSealSchema } from "./access_log_seals.responses.ts";
import type { sealColumns } from "./access_log_seals.sql.ts";

export const sealedDayParams = lazily(() => z.object({ date: day() }));

export type Seal = Row<typeof sealColumns>;

export function toSeal(row: Seal): z.input<typeof accessLogSealSchema> {
  return {
    date: row.date,
    count: row.count,
    first_id: row.first_id,
    last_id: row.last_id,
    sha256: row.sha256,
    previous: row.previous,
    jws: row.jws,
  };
}
