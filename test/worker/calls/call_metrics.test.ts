import { expect, it } from "vitest";
import { aClinic, ask, dates } from "../support/call_metrics.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization } from "../support/organization.ts";
import { travelTo } from "../support/time.ts";

it("GET /call_metrics covers 30 days by default, and up to today if it has a start", async () => {
  travelTo("2026-04-01T00:00:00Z");
  const { clinic, hold } = await aClinic();
  // Just inside and just outside the ranges.
  const moments = [
    "2025-03-30T23:59:59.999Z",
    "2025-03-31T00:00:00.000Z",
    "2026-01-30T23:59:59.999Z",
    "2026-01-31T00:00:00.000Z",
    "2026-03-01T23:59:59.999Z",
    "2026-03-02T00:00:00.000Z",
    "2026-03-31T23:59:59.999Z",
    "2026-04-01T00:00:00.000Z",
  ];
  for (const started_at of moments) await hold({ started_at });
  const days = moments.map((moment) => moment.slice(0, 10));
  travelTo("2026-03-31T12:00:00Z");
  for (const [query, from, to] of [
    ["", 5, 7],
    ["date_start=2026-01-31", 3, 7],
    ["date_start=2026-03-31", 6, 7],
    // The longest range of 3,660 days.
    ["date_start=2016-03-24", 0, 7],
    ["date_end=2026-03-01", 3, 5],
    ["date_end=2026-02-28", 2, 4],
    ["date_end=2026-04-01", 6, 8],
    ["date_start=2026-04-01&date_end=2026-05-01", 7, 8],
    ["date_start=2026-04-01", 7, 8],
  ] as const)
    expect([query, await dates(clinic, query)]).toEqual([query, days.slice(from, to)]);
  for (const query of ["date_start=2016-03-23", "date_start=2016-01-01&date_end=2026-01-08"])
    expectRefusal(await ask(clinic, `?${query}`), 400, /date_start.*3,660/);
});

it("GET /call_metrics does not find a user whose id is larger than any", async () => {
  const clinic = await anOrganization();
  for (const user_id of ["9007199254740991", "99999999999999999999"])
    expectRefusal(await ask(clinic, `?user_id=${user_id}`), 404);
});
