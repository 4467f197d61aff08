import { asc, exists, getTableColumns, inArray, isNull, not, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { coalesce, hasValues } from "../../database/expressions.ts";
import { insertRows, jsonField, type NewRow } from "../../database/insert.ts";
import {
  builder,
  type Placeholders,
  preparedQuery,
  type Value,
  type Values,
} from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import type { ReachedCall } from "../calls/calls.sql.ts";
import { isOnCallOfPath, type NamedValues, participantIdsByKeys } from "../participants/participants.sql.ts";
import { participants } from "../participants/participants.table.ts";
import { consents } from "./consents.table.ts";

export const consentColumns = getTableColumns(consents);

export const ledgerColumns = {
  participant_id: consents.participant_id,
  reporter: consents.reporter,
  decision: consents.decision,
  decided_at: consents.decided_at,
  said_at: consents.said_at,
};

export const consentsOfParticipants = (organization_id: Value<number>, named: Values<NamedValues>) =>
  builder
    .select(ledgerColumns)
    .from(consents)
    .where(inArray(consents.participant_id, participantIdsByKeys(organization_id, named)))
    .orderBy(asc(consents.id));

/** A decision to insert. A participant who is inserted in the same transaction has no id yet, and is found by their key. */
export type NewConsent = Omit<NewRow<typeof consents>, "participant_id"> & {
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

const participantId = coalesce(jsonField("participant_id"), ofKey);

const known = alias(consents, "known");

/** True if the ledger already has the decision. Compares the columns of the unique index. */
const isKnown = exists(
  selectColumn(
    known.id,
    hasValues(known, {
      participant_id: participantId,
      reporter: jsonField("reporter"),
      decision: jsonField("decision"),
    }),
    sql`case when ${known.said_at} is null then ${known.decided_at} else ${known.said_at} end = coalesce(${jsonField("said_at")}, ${jsonField("decided_at")})`,
  ),
);

/** Skips decisions that are already known, as an early refusal may be. */
export const insertConsents = insertRows<typeof consents, NewConsent>(consents, {
  computed: { participant_id: participantId },
  where: not(isKnown),
});

export const consentsOfPath = preparedQuery((call: Placeholders<ReachedCall>) =>
  builder
    .select(consentColumns)
    .from(consents)
    .where(inArray(consents.participant_id, selectColumn(participants.id, isOnCallOfPath(call))))
    .orderBy(asc(consents.decided_at), asc(consents.id)),
);
