// TEMPORARY
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "./database.ts";
export const selectTotal = (db: Database, total: SQL<number>) =>
  db.select({ total: total.as("total") }).from(sql`(select 1)`);
