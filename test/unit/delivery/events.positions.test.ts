import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RANGE } from "../../../src/database/shards.ts";
import {
  advance,
  type Found,
  mergeEvents,
  type Positions,
  readEventPositions,
  unreadAfter,
  writeEventPositions,
} from "../../../src/delivery/events/events.positions.ts";

describe("A position in the events of all databases", () => {
  it("is the id of the last event if there is one database", () => {
    expect(readEventPositions("1043")).toEqual([1043]);
    expect(writeEventPositions([1043])).toBe("1043");
    expect(unreadAfter([1043])).toEqual([[1043, Number.MAX_SAFE_INTEGER]]);
  });

  it("is 0 at the beginning", () => {
    expect(writeEventPositions([])).toBe("0");
    for (const start of [[], readEventPositions("0"), readEventPositions("000")])
      expect(unreadAfter(start)).toEqual([[0, Number.MAX_SAFE_INTEGER]]);
  });

  it("leaves out only what was read in each range, whatever the order of its ids", () => {
    const read = readEventPositions(`${5 * RANGE + 9}~7~${RANGE + 3}`);
    expect(unreadAfter(read)).toEqual([
      [7, RANGE],
      [RANGE + 3, 5 * RANGE],
      [5 * RANGE + 9, Number.MAX_SAFE_INTEGER],
    ]);
    expect(unreadAfter(readEventPositions("9~5"))).toEqual([[9, Number.MAX_SAFE_INTEGER]]);
  });
});

interface Event {
  id: number;
  organization: number;
}

const DATABASES = 3;
const ORGANIZATIONS = 4;

/** Databases with the events of organizations that move between them, as src/dev/move.ts moves them. */
function aService() {
  const all: Event[] = [];
  const databases = Array.from({ length: DATABASES }, (_, n) => ({
    newest: n * RANGE,
    events: new Map<number, Event>(),
  }));
  let range = DATABASES - 1;
  const frozen = new Set<number>();
  const homes = Array.from({ length: ORGANIZATIONS }, (_, n) => n % DATABASES);
  const at = (n: number) => databases[n] as (typeof databases)[number];
  const homeOf = (organization: number) => homes[organization] as number;
  const ofOrganization = (n: number, organization: number) =>
    [...at(n).events.values()].filter((event) => event.organization === organization);
  return {
    all,
    write(organization: number) {
      if (frozen.has(organization)) return;
      const home = at(homeOf(organization));
      home.newest++;
      const event = { id: home.newest, organization };
      home.events.set(event.id, event);
      all.push(event);
    },
    beginMove(organization: number, to: number) {
      frozen.add(organization);
      range++;
      at(to).newest = range * RANGE;
    },
    move(organization: number, to: number) {
      frozen.delete(organization);
      const from = homeOf(organization);
      if (from === to) return;
      for (const { id } of ofOrganization(to, organization)) at(to).events.delete(id);
      for (const event of ofOrganization(from, organization)) at(to).events.set(event.id, event);
      homes[organization] = to;
    },
    deleteOld(organization: number) {
      for (const n of databases.keys())
        if (n !== homeOf(organization))
          for (const { id } of ofOrganization(n, organization)) at(n).events.delete(id);
    },
    /** The result of the statements of events.sql.ts in a database. */
    ask(n: number, positions: Positions, limit: number): Found<Event> {
      const { events, newest } = at(n);
      const ids = [...events.keys()].sort((one, other) => one - other);
      const found = unreadAfter(positions).flatMap(([after, to]) =>
        ids.filter((id) => id > after && id <= to).slice(0, limit),
      );
      const page = found.sort((one, other) => one - other).slice(0, limit);
      const read = positions.filter((position) =>
        ids.some((id) => id > position - (position % RANGE) && id <= position),
      );
      return { events: page.map((id) => events.get(id) as Event), newest, read };
    },
  };
}

const anOrganization = fc.nat(ORGANIZATIONS - 1);
const aDatabase = fc.nat(DATABASES - 1);

const aChange = fc.oneof(
  { weight: 6, arbitrary: fc.record({ write: anOrganization }) },
  { weight: 2, arbitrary: fc.record({ move: anOrganization, to: aDatabase }) },
  { weight: 1, arbitrary: fc.record({ deleteOld: anOrganization }) },
);

type Change = { write: number } | { move: number; to: number } | { deleteOld: number };

/** A request of the platform. The databases are asked one after another, and meanwhile others write and move. */
const aRequest = fc.record({
  limit: fc.integer({ min: 1, max: 4 }),
  order: fc.shuffledSubarray([0, 1, 2], { minLength: 3 }),
  between: fc.array(fc.array(aChange, { maxLength: 6 }), { minLength: DATABASES, maxLength: DATABASES }),
});

/** While a database is asked, no old rows are deleted: a move waits for two minutes before that. */
const isQuick = (change: Change) => !("deleteOld" in change);

it("The platform reads each event once, and those of an organization in order, whatever moves meanwhile", () => {
  fc.assert(
    fc.property(fc.array(aRequest, { minLength: 1, maxLength: 25 }), (requests) => {
      const service = aService();
      const moved = new Set<number>();
      const change = (each: Change) => {
        if ("write" in each) service.write(each.write);
        else if ("deleteOld" in each) service.deleteOld(each.deleteOld);
        // A second move within two minutes is refused.
        else if (!moved.has(each.move)) {
          moved.add(each.move);
          service.move(each.move, each.to);
        }
      };
      const read: Event[] = [];
      let positions: Positions = [];
      const follow = (limit: number, order: number[], between: Change[][]) => {
        moved.clear();
        for (const each of between.flat().filter((one) => !isQuick(one))) change(each);
        // A move freezes the organization, takes a range and copies all rows long before it switches.
        for (const each of between.flat()) if ("move" in each) service.beginMove(each.move, each.to);
        const found = order.map((n, place) => {
          for (const each of (between[place] ?? []).filter(isQuick)) change(each);
          return service.ask(n, positions, limit);
        });
        const page = mergeEvents(found, limit);
        read.push(...page);
        positions = readEventPositions(writeEventPositions(advance(positions, found, page)));
      };
      for (const { limit, order, between } of requests) follow(limit, order, between);
      for (let before = -1; before < read.length; ) {
        before = read.length;
        follow(3, [0, 1, 2], []);
      }
      const ids = (events: Event[]) => events.map(({ id }) => id).sort((one, other) => one - other);
      expect(ids(read)).toEqual(ids(service.all));
      for (let organization = 0; organization < ORGANIZATIONS; organization++) {
        const own = (events: Event[]) => events.filter((each) => each.organization === organization);
        expect(own(read)).toEqual(own(service.all));
      }
    }),
    { numRuns: 500 },
  );
});

describe("The positions after a page", () => {
  const found = (read: number[]): Found<Event>[] => [{ events: [], newest: null, read }];

  it("forget a range whose events up to there are all deleted, so that moves do not make them longer", () => {
    const [first, gone, third, next] = [8, RANGE + 5, 2 * RANGE + 6, 3 * RANGE + 1] as const;
    const after = advance([first, gone, third], found([first, third]), [{ id: next }]);
    expect(after).toEqual([first, third, next]);
  });

  it("stay as they are after an empty page", () => {
    expect(advance([8, RANGE + 5], found([]), [])).toEqual([8, RANGE + 5]);
  });
});
