/** The floor's webhook endpoints, by the shape of their path (see floor.ts). */
import { createHmac } from "node:crypto";
import type { FloorHandler, FloorRequest } from "./floor.ts";
import * as shape from "./floor_shapes.ts";
import { all, bodyOf, write } from "./floor_statements.ts";

const DAY = 86_400_000;

const ENDPOINT = "id, url, event_types, is_active, disabled_reason, created_at, updated_at";

const OWN = "where organization_id = ?1 and id = ?2";

const path = ({ caller, segments }: FloorRequest) => [caller.organization_id, Number(segments[4])];

const newSecret = () => `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64")}`;

export const webhookEndpoints: Record<string, FloorHandler> = {
  "GET 4 webhook_endpoints": async (request) => {
    const found = await all(
      request,
      `select ${ENDPOINT} from webhook_endpoints where organization_id = ? order by id`,
      request.caller.organization_id,
    );
    return { body: { webhook_endpoints: found.map(shape.webhookEndpoint) } };
  },

  "GET 5 webhook_endpoints": async (request) => {
    const [found] = await all(request, `select ${ENDPOINT} from webhook_endpoints ${OWN}`, ...path(request));
    return found ? { body: shape.webhookEndpoint(found) } : null;
  },

  "POST 4 webhook_endpoints": async (request) => {
    const { webhook_endpoint: sent } = await bodyOf(request);
    const secret = newSecret();
    const row = await write(
      request,
      `insert into webhook_endpoints (organization_id, url, event_types, is_active, secret, created_at, updated_at)
      select ?1, ?2, ?3, ?4, ?5, ?6, ?6
      where (select count(*) from webhook_endpoints where organization_id = ?1) < 10 returning ${ENDPOINT}`,
      request.caller.organization_id,
      sent.url.trim(),
      sent.event_types ? JSON.stringify(sent.event_types) : null,
      (sent.is_active ?? true) ? 1 : 0,
      secret,
      request.now,
    );
    return row && { status: 201, body: { ...shape.webhookEndpoint(row), secret } };
  },

  "PUT 5 webhook_endpoints": async (request) => {
    const { webhook_endpoint: sent } = await bodyOf(request);
    const row = await write(
      request,
      `update webhook_endpoints set url = coalesce(?3, url), event_types = coalesce(?4, event_types),
        is_active = coalesce(?5, is_active), disabled_reason = iif(?5, null, disabled_reason), updated_at = ?6
      ${OWN} returning ${ENDPOINT}`,
      ...path(request),
      sent.url ?? null,
      sent.event_types ? JSON.stringify(sent.event_types) : null,
      sent.is_active === undefined ? null : Number(sent.is_active),
      request.now,
    );
    return row && { body: shape.webhookEndpoint(row) };
  },

  "DELETE 5 webhook_endpoints": async (request) => {
    const row = await write(request, `delete from webhook_endpoints ${OWN} returning id`, ...path(request));
    return row && { status: 204 };
  },

  "POST 6 webhook_endpoints rotate_secret": async (request) => {
    const secret = newSecret();
    const valid = "from json_each(previous_secrets) as old where old.value ->> 'expires_at' > ?4";
    const row = await write(
      request,
      `update webhook_endpoints set secret = ?3, updated_at = ?4, previous_secrets = json_insert(
        (select json_group_array(json(old.value)) ${valid}), '$[#]', json_object('secret', secret, 'expires_at', ?5))
      ${OWN} and (select count(*) ${valid}) < 5 returning ${ENDPOINT}`,
      ...path(request),
      secret,
      request.now,
      request.now + DAY,
    );
    return row && { body: { ...shape.webhookEndpoint(row), secret } };
  },

  "GET 6 webhook_endpoints deliveries": async (request) => {
    const { searchParams } = request.url;
    const after = Number(searchParams.get("after") ?? Number.MAX_SAFE_INTEGER);
    const found = await all(
      request,
      `select event_id, type event_type, attempts, last_attempt_at, response_status, error, next_attempt_at
      from webhook_deliveries d join events on id = event_id
      where webhook_endpoint_id = ?2 and d.organization_id = ?1 and event_id < ?3
        and exists (select 1 from webhook_endpoints ${OWN})
      order by event_id desc limit ?4`,
      ...path(request),
      after,
      Math.min(Number(searchParams.get("per_page") ?? 25), 100),
    );
    return { body: { deliveries: found.map(shape.delivery), next_after: found.at(-1)?.event_id ?? null } };
  },

  "POST 6 webhook_endpoints redeliver": async (request) => {
    const { after } = await bodyOf(request);
    const found = await all(
      request,
      `insert into webhook_deliveries (organization_id, webhook_endpoint_id, event_id, next_attempt_at)
      select p.organization_id, p.id, e.id, ?4
      from webhook_endpoints p join events e on e.organization_id = p.organization_id
      where p.organization_id = ?1 and p.id = ?2 and p.is_active and e.id > ?3 and e.created_at >= ?5
        and e.created_at >= p.created_at
        and (p.event_types is null or exists (select 1 from json_each(p.event_types) where value = e.type))
      order by e.id limit 1000
      on conflict do update set attempts = 0, next_attempt_at = excluded.next_attempt_at returning event_id`,
      ...path(request),
      after,
      request.now,
      request.now - 30 * DAY,
    );
    const next_after = found.length === 1000 ? found.at(-1)?.event_id : null;
    return { body: { redelivered_count: found.length, next_after } };
  },

  "POST 6 webhook_endpoints ping": async (request) => {
    const [found] = await all(request, `select url, secret from webhook_endpoints ${OWN}`, ...path(request));
    if (!found) return null;
    const [id, now] = [`ping_${crypto.randomUUID()}`, Math.floor(request.now / 1000)];
    const timestamp = new Date(request.now).toISOString();
    const body = JSON.stringify({ id: 0, type: "ping", timestamp, data: {} });
    const hmac = createHmac("sha256", Buffer.from(found.secret.slice(6), "base64"));
    const headers = {
      "Content-Type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(now),
      "webhook-signature": `v1,${hmac.update(`${id}.${now}.${body}`).digest("base64")}`,
    };
    const { status } = await fetch(found.url, { method: "POST", redirect: "manual", headers, body });
    return { body: { response_status: status, error: null } };
  },
};
