import * as z from "zod";
import { id } from "../../http/wire.ts";
import { MAX_ASSISTS } from "../../limits.ts";
import { lazily } from "../../memory.ts";

export const assists = lazily(() =>
  z.array(id()).max(MAX_ASSISTS, `must name at most ${MAX_ASSISTS} providers`),
);
