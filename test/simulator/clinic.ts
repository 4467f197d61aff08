import { MINUTE } from "../../src/units.ts";
import { expectDocumented } from "./documents.ts";
import { checkNow } from "./invariants.ts";
import { addIssuer } from "./sign_in.ts";
import { type Answer, NoAnswer, platformHeaders, type World } from "./world.ts";

/** A request with an answer, or one that was given up: it may have been carried out. */
export type Outcome = Answer | undefined;

export interface Call {
  key: string;
  /** Undefined as long as no report was answered. */
  id?: number;
  owner: Provider;
  people: Person[];
  isEnded: boolean;
  reported: Set<"transcript" | "soap_note">;
  /** The step in which the service answered that it had deleted a text. */
  deletedAt: Partial<Record<"transcript" | "soap_note", number>>;
  /** The step in which the service answered a refusal of consent. */
  refusedAt?: number;
}

interface Provider {
  id: number;
  user_id: number;
  email: string;
  waiting_room_slug: string;
}

export interface Person {
  key: string;
  patient: Patient;
}

export interface Patient {
  display_name: string;
  external_reference: string;
  /** No new key may be reported for them any more. */
  isLeaving: boolean;
  isErased: boolean;
  /** Requests under way that name them. */
  namedBy: number;
}

export interface Endpoint {
  id: number;
  url: string;
  received: number[];
}

/** An organization, and what its actors know of it. All its texts contain its name, and no other organization's do. */
export class Clinic {
  readonly rooms: string[] = [];
  readonly providers: Provider[] = [];
  readonly calls: Call[] = [];
  readonly patients: Patient[] = [];
  readonly visits: { id: number; patient: Patient }[] = [];
  readonly invites: number[] = [];
  readonly endpoints: Endpoint[] = [];
  readonly subs: { slug: string; id: number }[] = [];
  /** Names that no two rows may have, and whether a row was certainly made. */
  readonly made = new Map<string, boolean>();
  /** Results that were shown. */
  readonly shown = new Set<string>();
  id = 0;
  /** While it "holds", no client is served, and no webhook sent. */
  suspension?: "begins" | "holds" | undefined;
  /** Where a command that was interrupted was to move the organization. */
  interruptedMoveTo?: number;
  slug = "";
  credentials: Record<string, string> = {};
  /** Another organization of the same service. */
  neighbour: Clinic = this;
  #count = 0;
  readonly world: World;
  readonly name: string;
  readonly #others: RegExp;

  constructor(world: World, name: string, others: string[]) {
    this.world = world;
    this.name = name;
    this.#others = new RegExp(others.join("|"));
  }

  unique = (word: string): string => `${word} ${++this.#count} of ${this.name}`;

  async open(): Promise<void> {
    const organization = await this.platform("POST", "/organizations", { organization: { name: this.name } });
    this.id = organization?.body.id;
    this.slug = organization?.body.slug;
    const admin = await this.#addUser("Ada Admin", "organization_admin");
    const api_client = { name: `Integration of ${this.name}`, organization_user_id: admin.id };
    const client = await this.platform("POST", `${this.own}/api_clients`, { api_client });
    this.credentials = {
      "X-Client-ID": client?.body.client_id,
      "X-Client-Secret": client?.body.client_secret,
    };
    await addIssuer(this);
    for (const name of ["Paula", "Sam"]) this.providers.push(await this.#addUser(name, "provider"));
    for (let n = 0; n < 3; n++) this.patients.push(this.newPatient());
  }

  newPatient(): Patient {
    const display_name = this.unique("Rita");
    const external_reference = this.unique("number").replaceAll(" ", "-");
    return { display_name, external_reference, isLeaving: false, isErased: false, namedBy: 0 };
  }

  async #addUser(who: string, role: string) {
    const user = { email: `${who[0]}@${this.name}.example`, display_name: this.unique(who), roles: [role] };
    return (await this.platform("POST", `${this.own}/users`, { user }))?.body;
  }

  get own(): string {
    return `/organizations/${this.id}`;
  }

  platform = (method: string, path: string, body?: object): Promise<Outcome> =>
    this.#ask("/api/platform", method, path, platformHeaders, body);

  /** @param isKeyed sends an `Idempotency-Key`, so that the request is carried out once however often it is sent */
  client = (method: string, path: string, body?: object, isKeyed = false): Promise<Outcome> => {
    const key: Record<string, string> = isKeyed ? { "Idempotency-Key": this.unique("key") } : {};
    return this.#ask("/api/external", method, path, { ...this.credentials, ...key }, body);
  };

  clientWith = (credentials: Record<string, string>, method: string, path: string): Promise<Outcome> =>
    this.#ask("/api/external", method, path, credentials);

  /** Sends a request again until it is answered, as callers should, but not for ever. */
  async #ask(
    base: string,
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: object,
  ): Promise<Outcome> {
    const { schedule, chance } = this.world;
    for (let tries = 0; tries < 8; tries++) {
      try {
        const answer = await this.world.send(method, base + path, headers, body);
        this.#check(base, method, path, answer);
        if (method !== "GET") checkNow(this.world);
        if (answer.status !== 503) return answer;
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
      }
      await schedule.pause(chance.below(tries * tries * 1000));
    }
    schedule.say(`gives ${method} ${path} up`);
  }

  #check(base: string, method: string, path: string, { status, body, headers }: Answer): void {
    const fault = expectDocumented(base, method, path, status, headers);
    if (fault) this.world.violation(`${method} ${path}: ${fault}`);
    if (status >= 500 && status !== 503) this.world.violation(`${method} ${path} answered ${status}`);
    if (!this.world.hasFaults && headers.get("Error-Code") === "write_conflict")
      this.world.violation(`${method} ${path} met a conflict each time, and nothing had failed`);
    if (this.#others.test(JSON.stringify(body)))
      this.world.violation(`${method} ${path} of ${this.name} shows another organization`);
  }

  /** Marks a patient as named by a request while it is under way. */
  async naming<Result>(patient: Patient, work: () => Promise<Result>): Promise<Result> {
    patient.namedBy++;
    try {
      return await work();
    } finally {
      patient.namedBy--;
    }
  }

  /** A time in the past, in minutes before now. */
  ago = (minutes: number): string => new Date(this.world.schedule.now - minutes * MINUTE).toISOString();

  ahead = (minutes: number): string => new Date(this.world.schedule.now + minutes * MINUTE).toISOString();
}
