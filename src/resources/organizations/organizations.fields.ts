import * as z from "zod";
import { ORGANIZATION_SLUG } from "../../http/wire.ts";
import { MAX_RETENTION_DAYS } from "../../lifetimes.ts";
import { MAX_ORGANIZATION_SLUG_LENGTH } from "../../limits.ts";
import { lazily } from "../../memory.ts";
import { NOT_AN_ORGANIZATION_SLUG, NOT_RETENTION_DAYS } from "./organizations.refusals.ts";

export const organizationSlug = lazily(() =>
  z
    .string()
    .max(MAX_ORGANIZATION_SLUG_LENGTH, { error: NOT_AN_ORGANIZATION_SLUG, abort: true })
    .regex(ORGANIZATION_SLUG, NOT_AN_ORGANIZATION_SLUG),
);

export const retentionDays = lazily(() =>
  z
    .int({ error: NOT_RETENTION_DAYS, abort: true })
    .min(1, NOT_RETENTION_DAYS)
    .max(MAX_RETENTION_DAYS, NOT_RETENTION_DAYS)
    .nullable(),
);
