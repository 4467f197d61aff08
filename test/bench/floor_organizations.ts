/** The floor's reads of organizations and of what they have, for the platform, by the shape of the path (see floor.ts). */
import type { FloorHandler, PlatformFloorRequest } from "./floor.ts";
import * as shape from "./floor_shapes.ts";
import { all, bodyOf, ISSUER, ORGANIZATION, paged, totalOf, write } from "./floor_statements.ts";

/** null where there is no such organization. */
const totalOfOrganization = (list: string) =>
  `(select ${totalOf(list, "?1")} from organizations where id = ?1)`;

const idOf = ({ segments }: PlatformFloorRequest) => Number(segments[4]);

export const organizations: Record<string, FloorHandler<PlatformFloorRequest>> = {
  "GET 4 organizations": (request) =>
    paged(request, "organizations", shape.organization, {
      total: totalOf("organizations", "0"),
      columns: ORGANIZATION,
      from: "from organizations order by id",
      values: [],
    }),

  "GET 5 organizations": async (request) => {
    const [found] = await all(
      request,
      `select ${ORGANIZATION} from organizations where id = ?1`,
      idOf(request),
    );
    return found ? { body: shape.organization(found) } : null;
  },

  "PUT 5 organizations": async (request) => {
    const { organization: sent } = await bodyOf(request);
    const days = (name: string) => [sent[name] === undefined ? 0 : 1, sent[name] ?? null];
    const row = await write(
      request,
      `update organizations set name = coalesce(?2, name), updated_at = ?3,
        recording_retention_days = iif(?4, ?5, recording_retention_days),
        transcript_retention_days = iif(?6, ?7, transcript_retention_days)
      where id = ?1 returning ${ORGANIZATION}`,
      idOf(request),
      sent.name?.trim() ?? null,
      request.now,
      ...days("recording_retention_days"),
      ...days("transcript_retention_days"),
    );
    return row && { body: shape.organization(row) };
  },

  "GET 6 organizations users": (request) =>
    paged(request, "users", shape.user, {
      total: totalOfOrganization("organization_users"),
      columns: `m.id, m.user_id, u.email, m.display_name, m.roles, m.organization_id,
        (select slug from waiting_rooms own where own.organization_id = ?1 and own.user_id = m.user_id
          and own.retired_at is null) waiting_room_slug,
        (select json_group_array(provider_id) from organization_user_assists where assistant_id = m.id) assists`,
      from: `from organization_users m
        join users u on u.id = m.user_id where m.organization_id = ?1 order by m.id`,
      values: [idOf(request)],
    }),

  "GET 6 organizations api_clients": (request) =>
    paged(request, "api_clients", shape.apiClient, {
      total: totalOfOrganization("api_clients"),
      columns: "id, name, organization_user_id, client_id, revoked_at",
      from: "from api_clients where organization_id = ?1 order by id",
      values: [idOf(request)],
    }),

  "GET 6 organizations issuers": (request) =>
    paged(request, "issuers", shape.issuer, {
      total: totalOfOrganization("issuers"),
      columns: ISSUER,
      from: "from issuers where organization_id = ?1 order by id",
      values: [idOf(request)],
    }),
};
