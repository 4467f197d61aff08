import {
  and,
  asc,
  exists,
  getTableColumns,
  gte,
  inArray,
  isNull,
  lt,
  ne,
  not,
  notExists,
  sql,
} from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { Context } from "../../context.ts";
import { EGRESS_DELETED } from "../../database/enums.ts";
import { coalesce, hasValues, iif, least } from "../../database/expressions.ts";
import {
  excluded,
  insertRows,
  insertSelect,
  jsonField,
  type NewRow,
  valuesFor,
} from "../../database/insert.ts";
import {
  builder,
  jsonValues,
  type Placeholders,
  preparedQuery,
  type Value,
  type Values,
} from "../../database/queries.ts";
import { selectColumn } from "../../database/selects.ts";
import { isInTurn, type Turn, workOff } from "../../database/turns.ts";
import { UNCLAIMED_KEPT_FOR } from "../../lifetimes.ts";
import { egresses } from "../../results/egresses/egresses.table.ts";
import type { CallKey, ReachedCall } from "../calls/calls.sql.ts";
import { isOnCallOfPath, type NamedValues, participantIdsByKeys } from "../participants/participants.sql.ts";
import { participants } from "../participants/participants.table.ts";
import { consents, earlyRefusals } from "./consents.table.ts";

export const consentColumns = getTableColumns(consents);

const { participant_id, reporter, decision, decided_at, said_at } = consents;

export const ledgerColumns = { participant_id, reporter, decision, decided_at, said_at };

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

const organizationId = jsonField("organization_id");

const participantId = coalesce(
  jsonField("participant_id"),
  selectColumn(
    participants.id,
    hasValues(participants, { organization_id: organizationId, key: jsonField("participant_key") }),
    isNull(participants.erased_at),
  ),
);

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

type Row = typeof earlyRefusals.$inferSelect;

export type NewEarlyRefusal = Omit<Row, "organization_id" | "unclaimed_since" | "created_at">;

/** Keeps the latest refused consent of a connection. `came` is false once an event says that nobody came by the connection. */
export const keepRefusal = preparedQuery((row: Placeholders<Row>) => {
  const isLater = gte(excluded(earlyRefusals.decided_at), earlyRefusals.decided_at);
  const latest = (column: "decided_at" | "said_at" | "method" | "reported_at") =>
    iif(isLater, excluded(earlyRefusals[column]), earlyRefusals[column]);
  const { organization_id, call_key, key_digest, joined_at } = earlyRefusals;
  return insertSelect(earlyRefusals, valuesFor(earlyRefusals, row)).onConflictDoUpdate({
    target: [organization_id, call_key, key_digest, joined_at],
    set: {
      came: least(sql`came`, excluded(earlyRefusals.came)),
      decided_at: latest("decided_at"),
      said_at: latest("said_at"),
      method: latest("method"),
      reported_at: latest("reported_at"),
      unclaimed_since: excluded(earlyRefusals.unclaimed_since),
    },
  });
});

const { unclaimed_since: _, ...earlyRefusalColumns } = getTableColumns(earlyRefusals);

export const selectRefusals = (organization_id: Value<number>, call_key: Value<string>) =>
  builder
    .select(earlyRefusalColumns)
    .from(earlyRefusals)
    .where(hasValues(earlyRefusals, { organization_id, call_key }))
    .orderBy(earlyRefusals.key_digest, earlyRefusals.joined_at);

/** Deletes refused consents that waited for participants of a call. `digests` is a JSON array of the digests of their keys. */
export const deleteRefusals = preparedQuery((of: Placeholders<CallKey & { digests: string }>) =>
  builder
    .delete(earlyRefusals)
    .where(
      and(
        hasValues(earlyRefusals, { organization_id: of.organization_id, call_key: of.key }),
        inArray(earlyRefusals.key_digest, jsonValues(of.digests)),
      ),
    ),
);

/** Deletes refused consents whose call was not reported in time, unless one of its recordings can still get the call. */
export const deleteUnclaimedRefusals = ({ db, now }: Context): Promise<number> =>
  workOff(db, (turn) => deleteUnclaimed({ ...turn, before: now - UNCLAIMED_KEPT_FOR }));

const deleteUnclaimed = preparedQuery((old: Placeholders<Turn & { before: number }>) => {
  const { organization_id, call_key, unclaimed_since: time } = earlyRefusals;
  const waiting = selectColumn(
    egresses.id,
    hasValues(egresses, { organization_id, call_key }),
    and(isNull(egresses.call_id), ne(egresses.status, EGRESS_DELETED)),
  );
  const due = {
    time,
    where: and(lt(time, old.before), notExists(waiting)),
    indexed: sql`${time} is not null`,
  };
  return builder
    .delete(earlyRefusals)
    .where(isInTurn(earlyRefusals, due, old))
    .returning({ organization_id });
});
