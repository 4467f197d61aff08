import { asc, getTableColumns, inArray, isNull } from "drizzle-orm";
import { coalesce, hasValues } from "../../database/expressions.ts";
import { insertSelect, jsonField, jsonFields, jsonRows } from "../../database/insert.ts";
import {
  type BoundQuery,
  builder,
  type Placeholders,
  preparedQuery,
  type Value,
  type Values,
} from "../../database/queries.ts";
import { consents, participants } from "../../database/schema.ts";
import { selectColumn } from "../../database/selects.ts";
import type { ReachedCall } from "../calls/calls.sql.ts";
import { isOnCallOfPath, type NamedValues, participantIdsByKeys } from "../participants/participants.sql.ts";

export const consentColumns = getTableColumns(consents);

export const ledgerColumns = {
  participant_id: consents.participant_id,
  reporter: consents.reporter,
  decision: consents.decision,
  decided_at: consents.decided_at,
  said_at: consents.said_at,
};

/** Selects the decisions of the participants whom a report names, in the order in which they were reported. */
export const consentsOfParticipants = (organization_id: Value<number>, named: Values<NamedValues>) =>
  builder
    .select(ledgerColumns)
    .from(consents)
    .where(inArray(consents.participant_id, participantIdsByKeys(organization_id, named)))
    .orderBy(asc(consents.id));

/** A decision of a participant. One who is written in the same transaction has no id yet, and is found by the key. */
export type NewConsent = Omit<typeof consents.$inferInsert, "id" | "participant_id"> & {
  participant_id: number | null;
  participant_key: string;
};

const ofKey = selectColumn(
  participants.id,
  hasValues(participants, {
    organization_id: jsonField("organization_id"),
    key: jsonField("participant_key"),
  }),
  isNull(participants.erased_at),
);

const insertConsentRows = preparedQuery(({ rows }: Placeholders<{ rows: string }>) =>
  insertSelect(
    consents,
    { ...jsonFields(consents), participant_id: coalesce(jsonField("participant_id"), ofKey) },
    { from: jsonRows(rows) },
  ),
);

export const insertConsents = (rows: NewConsent[]): BoundQuery<unknown> =>
  insertConsentRows({ rows: JSON.stringify(rows) });

/** The decisions of those on the call of the path, oldest first. */
export const consentsOfPath = preparedQuery((call: Placeholders<ReachedCall>) =>
  builder
    .select(consentColumns)
    .from(consents)
    .where(inArray(consents.participant_id, selectColumn(participants.id, isOnCallOfPath(call))))
    .orderBy(asc(consents.decided_at), asc(consents.id)),
);
