import { expect } from "vitest";
import { aRecipient, reportCall } from "./calls.ts";
import { anOrganization, given, type Organization, unique } from "./organization.ts";

export const DAY = "2026-01-31";
export const NEXT_DAY = "2026-02-01";

/** Builds the four maps of a response from the values of each date. */
export const ofDates = (
  dates: Record<string, [total: number, duration: number, rate: number, wait: number]>,
) => {
  const map = (at: number) => Object.fromEntries(Object.entries(dates).map(([date, all]) => [date, all[at]]));
  return { total_calls: map(0), average_duration: map(1), call_fail_rate: map(2), average_wait_time: map(3) };
};

export const NO_CALLS = ofDates({});

/** A timestamp this many seconds after 09:30 UTC on the day. */
export const at = (seconds: number, day = DAY) =>
  new Date(Date.parse(`${day}T09:30:00Z`) + seconds * 1000).toISOString();

/** A clinic with a provider. `hold` reports a call of this provider, at 09:30 by default. */
export async function aClinic() {
  const clinic = await anOrganization();
  const provider = await clinic.addProvider();
  const room = await clinic.addRoom();
  const hold = async (call: object = {}) => {
    const key = unique("call");
    const first = { waiting_room_slug: room.slug, organization_user_id: provider.id, started_at: at(0) };
    await given(reportCall(clinic, key, { ...first, participants: [], ...call }));
    return key;
  };
  return { clinic, provider, room, hold };
}

export const ask = ({ client }: Pick<Organization, "client">, query = "") =>
  client.get(`/call_metrics${query}`);

export const metrics = async (clinic: Pick<Organization, "client">, query: string) =>
  given(ask(clinic, `?${query}`));

export const theDay = (clinic: Pick<Organization, "client">) =>
  metrics(clinic, `date_start=${DAY}&date_end=${DAY}`);

/** The dates in the response. Expects the same dates in all four maps. */
export async function dates(clinic: Pick<Organization, "client">, query: string) {
  const { total_calls, ...others } = await metrics(clinic, query);
  for (const map of Object.values(others))
    expect(Object.keys(map as object)).toEqual(Object.keys(total_calls));
  return Object.keys(total_calls);
}

/** Two providers: one with two calls, the other with one call on the next day. */
export async function twoProviders() {
  const { clinic, provider, hold } = await aClinic();
  const other = await clinic.addProvider("Peter Provider");
  await hold({ ended_at: at(100), participants: [aRecipient({ waiting_since: at(-10) })] });
  await hold({ failed: true, participants: [aRecipient({ waiting_since: at(-20) })] });
  const theirs = await hold({
    organization_user_id: other.id,
    started_at: at(0, NEXT_DAY),
    ended_at: at(50, NEXT_DAY),
    participants: [aRecipient({ waiting_since: at(-40, NEXT_DAY) })],
  });
  return { clinic, provider, other, theirs };
}

export const BOTH_DAYS = `date_start=${DAY}&date_end=${NEXT_DAY}`;
