import { and, asc, exists, inArray, isNotNull, notExists } from "drizzle-orm";
import type { ClientContext, Context } from "../../context.ts";
import { namedCreation } from "../../database/creations.ts";
import type { Role } from "../../database/enums.ts";
import {
  builder,
  namedQuery,
  type Placeholders,
  runAll,
  runBatch,
  runFirst,
} from "../../database/queries.ts";
import { namedWrite } from "../../database/rules.ts";
import { invites } from "../../database/schema.ts";
import { notFound, unprocessable } from "../../http/errors.ts";
import { type Page, type PageQuery, pageWindow, toPage } from "../../http/pagination.ts";
import { CRON_PORTION } from "../../limits.ts";
import { accountOf } from "../organization_users/organization_users.sql.ts";
import { requireAssignable } from "../roles/roles.schemas.ts";
import { type Invite, type InviteInput, inviteExpiry } from "./invites.schemas.ts";
import {
  hasEmail,
  inviteColumns,
  inviteWhere,
  isActive,
  isExpiredAndListed,
  lapseInvites,
  ownInvite,
  ownInviteById,
  pageOfInvites,
  totalOfInvites,
} from "./invites.sql.ts";

/** The invites that can still be accepted. */
export async function listInvites(
  { db, now, caller: { organization_id } }: ClientContext,
  page: PageQuery,
): Promise<Page<Invite>> {
  const [[counted], rows] = await runBatch(db, [
    totalOfInvites({ organization_id, now }),
    pageOfInvites({ organization_id, now, ...pageWindow(page) }),
  ]);
  return toPage(page, counted?.total ?? 0, rows);
}

/** Any invite of the organization, used and expired ones too. */
export async function requireInvite(
  { db, caller: { organization_id } }: ClientContext,
  id: number,
): Promise<Invite> {
  const invite = await runFirst(db, ownInviteById({ organization_id, id }));
  if (!invite) throw notFound("Invite");
  return invite;
}

/** An email has at most one active invite. An expired one lapses before the new one comes. */
export async function createInvite(
  context: ClientContext,
  { email, display_name, role_names }: InviteInput,
): Promise<Invite> {
  const { now, caller, settings } = context;
  requireAssignable(caller.roles, role_names, "organization_invite.role_names");
  return insertInvite(context, {
    organization_id: caller.organization_id,
    email,
    display_name,
    roles: role_names,
    expires_at: inviteExpiry(settings, now),
    now,
  });
}

interface NewInvite {
  organization_id: number;
  email: string;
  display_name: string;
  roles: Role[];
  expires_at: number;
  now: number;
}

const insertInvite = namedCreation(
  { table: invites, columns: inviteColumns, personal: ["email", "display_name"] },
  ({ organization_id, email, display_name, roles, expires_at, now }: Placeholders<NewInvite>) => ({
    rules: [
      {
        broken: exists(accountOf(organization_id, email)),
        refusal: () => unprocessable("organization_invite.email: has an account in the organization"),
      },
      {
        broken: exists(inviteWhere(and(hasEmail(organization_id, email), isActive(now)))),
        refusal: () =>
          unprocessable(
            "organization_invite.email: has a pending invite; to send another one, delete it first",
          ),
      },
    ],
    statements: [
      lapseInvites(and(hasEmail(organization_id, email), isExpiredAndListed(now))),
      builder
        .insert(invites)
        .values({ organization_id, email, display_name, roles, expires_at, created_at: now, updated_at: now })
        .returning(inviteColumns),
    ],
  }),
);

/** Removes an invite that was not used, expired or not. */
export async function deleteInvite(
  { db, caller: { organization_id } }: ClientContext,
  id: number,
): Promise<void> {
  await removeInvite(db, { organization_id, id });
}

const removeInvite = namedWrite(
  ({ organization_id, id }: Placeholders<{ organization_id: number; id: number }>) => ({
    rules: [
      {
        broken: notExists(inviteWhere(ownInvite(organization_id, id))),
        refusal: () => notFound("Invite"),
      },
      {
        broken: exists(inviteWhere(and(ownInvite(organization_id, id), isNotNull(invites.used_at)))),
        refusal: () => unprocessable("The invite was used: it cannot be removed"),
      },
    ],
    statements: [builder.delete(invites).where(ownInvite(organization_id, id)).returning({ id: invites.id })],
  }),
);

/** Keeps expired invites out of the list's total and index, so that a page need not skip them. One run marks a portion. */
export async function lapseExpiredInvites({ db, now }: Context): Promise<number> {
  return (await runAll(db, lapseExpired({ now }))).length;
}

const lapseExpired = namedQuery(({ now }: Placeholders<{ now: number }>) =>
  lapseInvites(
    inArray(
      invites.id,
      inviteWhere(isExpiredAndListed(now)).orderBy(asc(invites.expires_at)).limit(CRON_PORTION),
    ),
  ).returning({ id: invites.id }),
);
