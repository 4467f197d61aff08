import * as z from "zod";
import { pageQuery } from "../http/pagination.ts";
import { instant, pathId } from "../http/wire.ts";

// Text in a URL, but numbers and times to a reader: what the transformations after it cannot say.
z.globalRegistry.add(pageQuery.shape.page, { override: { type: "integer", minimum: 1, pattern: undefined } });
z.globalRegistry.add(pageQuery.shape.per_page, {
  override: { type: "integer", minimum: 1, pattern: undefined },
});
z.globalRegistry.add(pathId, { override: { type: "integer", minimum: 1, pattern: undefined } });
z.globalRegistry.add(instant, { override: { type: "string", format: "date-time" } });
