import { DAY, MINUTE } from "../../../src/units.ts";
import {
  EMAIL,
  EMAILS,
  kind,
  list,
  NAME,
  NEVER,
  object,
  oneOf,
  required,
  resource,
  SEARCHED_EMAIL,
  text,
} from "../kinds.ts";
import {
  ANYTHING,
  found,
  type Input,
  type Invite,
  type Issuer,
  Learned,
  type Model,
  newRow,
  ownedBy,
  page,
  Refusal,
  type Request,
  timestamp,
  unprocessable,
  view,
  withId,
} from "../model.ts";
import { MEMBER, type Operations, PAGE, pathOf } from "../operation.ts";
import {
  accountOf,
  createdUser,
  join,
  membersOf,
  pendingOf,
  ROLE_NAMES,
  requireAssignable,
} from "./members.ts";
import { organizationOf } from "./organizations.ts";

const shown = (invite: Invite) =>
  view(invite, "email display_name roles expires_at used_at created_at updated_at", {
    organization_id: invite.organization.id,
    organization_name: invite.organization.name,
    mail_status: invite.used_at === null ? "queued" : "off",
    mailed_at: null,
    created_by_user_id: invite.creator.id,
    returning_user_id: invite.returning?.id ?? null,
  });

/** For the platform, with the link, which changes when the invite is sent again. */
const shownWithLink = (model: Model, invite: Invite) => ({
  ...shown(invite),
  organization_name: invite.organization.mail_name,
  accept_url: new Learned((url: string) => {
    const token = new URL(url).searchParams.get("token") ?? "";
    if (invite.used_at === null) model.links.set(token, { invite, resent_at: invite.resent_at });
  }),
});

const invitesOf = (model: Model, { caller }: Request) => ownedBy(caller.organization, model.invites);

const inviteOf = (model: Model, request: Request): Invite =>
  withId(invitesOf(model, request), request.path.id);

/** For a caller who may assign its roles. */
function unusedInviteOf(model: Model, request: Request): Invite {
  const invite = inviteOf(model, request);
  if (invite.used_at !== null) throw unprocessable("invite_used");
  requireAssignable(request.caller, invite.roles);
  return invite;
}

/** Three mails a day may go to one address. @throws Refusal 429 */
function countMail(model: Model, { organization, email }: Pick<Invite, "organization" | "email">): void {
  const mail = `${organization.id} ${email} ${Math.floor(model.now / DAY)}`;
  const sent = model.mails.get(mail) ?? 0;
  if (sent >= 3) throw new Refusal(429, "address_mail_limit");
  model.mails.set(mail, sent + 1);
}

const anInvite = pathOf(({ invites }) => invites);

const INVITEE = { email: required(EMAIL), display_name: required(NAME), role_names: required(ROLE_NAMES) };

const secretOf = (secrets: (model: Model) => Iterable<string>) =>
  kind(({ model, chance }) => chance.pick([...secrets(model), "unknown"].reverse()), [5]);

const shownIssuer = (issuer: Issuer) =>
  view(issuer, "issuer audience jwks_url require_verified_email created_at updated_at", {
    organization_id: issuer.organization.id,
    email_claim: "email",
  });

const ISSUER_URLS = ["https://idp.example.com", "https://login.example.com"];
const AUDIENCES = ["visits", "other"];

const issuersOf = (model: Model, request: Request): Issuer[] =>
  ownedBy(organizationOf(model, request), model.issuers);

/** A token that the identity provider has signed, or nonsense. */
const TOKEN = kind(
  ({ chance, model }) =>
    chance.is(0.9)
      ? model.signToken({
          iss: chance.pick(ISSUER_URLS),
          aud: chance.pick(AUDIENCES),
          email: chance.pick([...EMAILS, ...model.members.map(({ email }) => email ?? "")]),
        })
      : "no.token.here",
  [5],
);

/** Why a token would be refused, and whose it is. */
function judge(model: Model, { organization }: Request["caller"], token: string) {
  const claims = model.tokens.get(token);
  const known = ownedBy(organization, model.issuers).filter(({ issuer }) => issuer === claims?.iss);
  const email = claims?.email.trim().toLowerCase() ?? "";
  const people = membersOf(model, organization).filter((member) => member.email === email);
  const member = people.find(({ roles }) => roles.length > 0);
  const isPending = pendingOf(model, organization).some((invite) => invite.email === email);
  const reason = () => {
    if (!claims) return "malformed";
    if (known.length === 0) return "issuer_unknown";
    if (!known.some(({ audience }) => audience === claims.aud)) return "audience_wrong";
    if (claims.expires_at <= model.now) return "expired";
    if (email === "") return "email_missing";
    if (member) return null;
    if (isPending) return "invite_pending";
    return people.length > 0 ? "membership_ended" : "user_unknown";
  };
  return {
    reason: reason(),
    member: member ?? people.at(-1),
    claims: known.length > 0 ? claims : undefined,
    email,
  };
}

export const JOINING: Operations = {
  "external GET /invites": {
    query: {
      ...PAGE,
      status: oneOf(["active", "expired"], ["used"]),
      email: SEARCHED_EMAIL,
    },
    play(model, request) {
      const { status = "active", email } = request.query;
      const invites = pendingOf(model, request.caller.organization).filter(
        (invite) =>
          invite.expires_at > model.now === (status === "active") &&
          (email === undefined || invite.email === email),
      );
      return page("organization_invites", invites, request, shown);
    },
  },
  "external POST /invites": {
    body: resource("organization_invite", { ...INVITEE, returning_user_id: MEMBER }),
    play(model, request) {
      const { organization, member: creator } = request.caller;
      const { role_names: roles, returning_user_id, ...invitee } = request.body.organization_invite;
      requireAssignable(request.caller, roles);
      if (accountOf(model, organization, invitee.email)) throw unprocessable("account_exists");
      if (pendingOf(model, organization).some(({ email }) => email === invitee.email))
        throw unprocessable("invite_pending");
      const returning = membersOf(model, organization).find(({ id }) => id === returning_user_id);
      const mayReturn = returning?.roles.length === 0 && creator.roles.includes("organization_admin");
      if (returning_user_id !== undefined && !mayReturn) throw unprocessable("not_a_former_member");
      const invite: Invite = {
        ...{ ...newRow(model), organization, creator, ...invitee, roles, returning: returning ?? null },
        ...{ expires_at: model.now + 7 * DAY, used_at: null, resent_at: null },
      };
      countMail(model, invite);
      model.invites.push(invite);
      return shown(invite);
    },
  },
  "external GET /invites/{id}": {
    path: anInvite,
    play: (model, request) => shown(inviteOf(model, request)),
  },
  "external DELETE /invites/{id}": {
    path: anInvite,
    play(model, request) {
      const invite = unusedInviteOf(model, request);
      model.invites = model.invites.filter((each) => each !== invite);
    },
  },
  "external POST /invites/{id}/resend": {
    status: 202,
    path: anInvite,
    play(model, request) {
      const invite = unusedInviteOf(model, request);
      const madeAt = invite.resent_at ?? invite.created_at;
      if (model.now - madeAt < MINUTE) throw new Refusal(429, "invite_sent_recently");
      countMail(model, invite);
      Object.assign(invite, { resent_at: model.now, updated_at: model.now, expires_at: model.now + 7 * DAY });
      return shown(invite);
    },
  },
  "external POST /invites/bulk_create": {
    body: object({
      organization_invites: required(list(object({ ...INVITEE, returning_user_id: NEVER }), 1, 1000, 3)),
    }),
    play(model, { caller, body: { organization_invites } }) {
      for (const { role_names } of organization_invites) requireAssignable(caller, role_names);
      const rows = organization_invites.map(({ email, role_names: roles }: Input) => ({
        ...{ email, roles, isFailed: false },
      }));
      const { organization, member: creator } = caller;
      const bulk = { ...newRow(model), organization, creator, rows };
      model.bulkInvites.push(bulk);
      return { bulk_invite: shownBulk(bulk) };
    },
  },
  "external GET /bulk_invites/{id}": {
    path: pathOf(({ bulkInvites }) => bulkInvites),
    play(model, { caller, path }) {
      const bulk = withId(ownedBy(caller.organization, model.bulkInvites), path.id);
      const failures = bulk.rows.flatMap(({ email, isFailed }, row) =>
        isFailed ? [{ row, email, error: ANYTHING }] : [],
      );
      return { bulk_invite: { ...shownBulk(bulk), failures } };
    },
  },
  "platform GET /organizations/{organization_id}/invites/{id}": {
    path: anInvite,
    play(model, request) {
      const invites = ownedBy(organizationOf(model, request), model.invites);
      return shownWithLink(model, withId(invites, request.path.id));
    },
  },
  "platform POST /invites/accept": {
    status: 200,
    changesRights: true,
    body: object({ token: required(secretOf(({ links }) => links.keys())) }),
    play(model, { body: { token } }) {
      const link = found(model.links.get(token));
      const { invite } = link;
      if (!model.invites.includes(invite) || invite.resent_at !== link.resent_at) found(undefined);
      model.requireNotSuspended(invite.organization);
      if (invite.used_at !== null) throw unprocessable("invite_used");
      if (invite.expires_at <= model.now) throw unprocessable("invite_expired");
      if (invite.returning && invite.returning.roles.length > 0) throw unprocessable("not_a_former_member");
      const account = accountOf(model, invite.organization, invite.email);
      const member = join(model, invite.returning ?? account, invite);
      Object.assign(invite, { used_at: model.now, updated_at: model.now });
      return createdUser(model, member);
    },
  },
  "external POST /auth/token_exchange": {
    status: 200,
    area: "sign_in",
    body: resource("token_exchange", { token: required(TOKEN) }),
    play(model, { caller, body: { token_exchange } }) {
      const { reason, member } = judge(model, caller, token_exchange.token);
      if (reason === "invite_pending") throw new Refusal(401, "invite_pending");
      if (reason !== null || !member) throw new Refusal(401, "invalid_token");
      const learn = (code: string) => {
        model.codes.push({ code, member, expires_at: model.now + MINUTE, isUsed: false });
      };
      return { code: new Learned(learn) };
    },
  },
  "external POST /token_checks": {
    status: 200,
    area: "organization:read",
    roles: ["organization_admin"],
    body: resource("token_check", { token: required(TOKEN) }),
    play(model, { caller, body: { token_check } }) {
      const { reason, member, claims, email } = judge(model, caller, token_check.token);
      const issuer = claims?.iss ?? null;
      const body = { issuer, audience: claims?.aud ?? null, email: claims ? email : null, reason };
      return { ...body, organization_user_id: (claims && member?.id) ?? null };
    },
  },
  "platform POST /authorization_codes/redeem": {
    status: 200,
    body: object({ code: required(secretOf(({ codes }) => codes.map(({ code }) => code))) }),
    play(model, { body }) {
      const code = model.codes.find(({ code }) => code === body.code);
      if (!code || code.member.roles.length === 0) throw new Refusal(401, "invalid_code");
      const { id, organization, email, display_name, roles } = code.member;
      model.requireNotSuspended(organization);
      if (code.isUsed || code.expires_at <= model.now) throw new Refusal(401, "invalid_code");
      code.isUsed = true;
      return {
        organization: { id: organization.id, name: organization.name, slug: organization.slug },
        user: { id, email, display_name },
        organization_user: { id, roles },
      };
    },
  },
  "platform GET /organizations/{organization_id}/issuers": {
    query: PAGE,
    play: (model, request) => page("issuers", issuersOf(model, request), request, shownIssuer),
  },
  "platform POST /organizations/{organization_id}/issuers": {
    body: resource("issuer", {
      issuer: required(text(1000, ISSUER_URLS)),
      audience: required(text(1000, AUDIENCES)),
      jwks_url: required(text(1000, ["https://idp.example.com/jwks"], ["http://idp.example.com", "idp", 5])),
      require_verified_email: oneOf([true, false], ["yes"]),
    }),
    play(model, request) {
      const organization = organizationOf(model, request);
      const { issuer } = request.body;
      const isSame = (each: Issuer) => each.issuer === issuer.issuer && each.audience === issuer.audience;
      if (issuersOf(model, request).some(isSame)) throw unprocessable("issuer_exists");
      const row = { ...newRow(model), organization, require_verified_email: true, ...issuer };
      model.issuers.push(row);
      return shownIssuer(row);
    },
  },
  "platform DELETE /organizations/{organization_id}/issuers/{id}": {
    path: pathOf(({ issuers }) => issuers),
    play(model, request) {
      const issuer = withId(issuersOf(model, request), request.path.id);
      model.issuers.splice(model.issuers.indexOf(issuer), 1);
    },
  },
};

function shownBulk(bulk: Model["bulkInvites"][number]) {
  const total_count = bulk.rows.length;
  const failed_count = bulk.rows.filter(({ isFailed }) => isFailed).length;
  return view(bulk, "created_at", {
    ...{ total_count, created_count: 0, failed_count },
    status: failed_count < total_count ? "pending" : "completed",
    updated_at: failed_count > 0 ? ANYTHING : timestamp(bulk.created_at),
  });
}
