import { env } from "cloudflare:workers";
import type { Organization } from "./organization.ts";

/** Rows of an organization that contradict the record of a person. */
export async function contradictionsIn({ id }: Organization) {
  const { results } = await env.DB.prepare(
    `select 'a copied digest' as wrong from participants join people on people.id = person_id
     where people.organization_id = ?1 and participants.reference_digest is not people.reference_digest
     union all select 'a time' from people join computed_person_times on person_id = people.id
     where organization_id = ?1
       and (people.over_at is not computed_person_times.over_at or people.visit_starts_at is not computed_person_times.visit_starts_at)
     union all select 'an erased name' from people
     where organization_id = ?1 and erased_at is not null and (display_name <> 'Participant' or external_reference is not null)
     union all select 'a name without its digest' from people
     where organization_id = ?1 and (external_reference is null) <> (reference_digest is null)`,
  )
    .bind(id)
    .all();
  return results;
}
