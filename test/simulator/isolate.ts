import { createHash, timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { Script } from "node:vm";
import { gunzipSync, gzipSync } from "node:zlib";
import { build, type Plugin } from "esbuild";
import type * as Move from "../../src/dev/move.ts";
import type * as Deletion from "../../src/dev/organization_deletion.ts";
import { DigestStream } from "../project/support/worker_in_node.ts";
import type { Life, Schedule } from "./schedule.ts";

/** A change of one place in the source, which makes the service faulty. */
export interface Mutation {
  name: string;
  file: string;
  from: string;
  to: string;
}

/** Names that the Worker finds in its global scope. An isolate gets its own. */
const GLOBALS = [
  ...[
    "Date",
    "Math",
    "crypto",
    "fetch",
    "console",
    "AbortSignal",
    "CompressionStream",
    "DecompressionStream",
  ],
  "FixedLengthStream",
  ...["setTimeout", "clearTimeout", "setInterval", "clearInterval"],
] as const;

type Globals = Record<(typeof GLOBALS)[number], unknown>;

export async function mutatedSource({ file, from, to }: Mutation): Promise<string> {
  const source = await readFile(file, "utf8");
  if (source.split(from).length !== 2) throw new Error(`${file} does not contain ${from} exactly once`);
  return source.replace(from, () => to);
}

const mutating = (mutation: Mutation): Plugin => ({
  name: "mutation",
  setup({ onLoad }) {
    onLoad({ filter: new RegExp(`/${mutation.file.replaceAll(".", "\\.")}$`) }, async () => ({
      contents: await mutatedSource(mutation),
      loader: "ts",
    }));
  },
});

/** A program as one script, which runs anew for each isolate, so that no isolate knows what another one remembers. */
async function compile(contents: string, mutation?: Mutation): Promise<Script> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: "." },
    bundle: true,
    format: "cjs",
    platform: "neutral",
    target: "esnext",
    mainFields: ["module", "main"],
    conditions: ["worker", "import"],
    external: ["node:*"],
    write: false,
    // The commands' modules look for wrangler with it, which nothing does here.
    logOverride: { "empty-import-meta": "silent" },
    plugins: mutation ? [mutating(mutation)] : [],
  });
  return new Script(`(function (module, require, ${GLOBALS.join(", ")}) {${outputFiles[0]?.text}\n})`);
}

export interface Programs {
  worker: Script;
  /** The commands that move an organization to another database, and delete it. */
  commands: Script;
}

export const compileAll = async (mutation?: Mutation): Promise<Programs> => ({
  worker: await compile('export { default } from "./src/index.ts"', mutation),
  commands: await compile(
    'export * from "./src/dev/move.ts"; export * from "./src/dev/organization_deletion.ts"',
    mutation,
  ),
});

export type Worker = Required<Pick<ExportedHandler<Env>, "fetch" | "queue" | "scheduled">>;

export interface Isolate extends Life {
  name: string;
  worker: Worker;
  /** Rejected when the isolate is restarted. */
  death: PromiseWithResolvers<never>;
}

interface Outside {
  fetch: typeof globalThis.fetch;
  onLog: (line: string) => void;
}

/** Runs a program from its beginning, without any memory, and returns its exports. */
function start<Exports>(script: Script, schedule: Schedule, outside: Outside): Exports {
  const module = { exports: {} as Exports };
  const globals = globalsOf(schedule, outside);
  const require = (name: string) =>
    name === "node:timers/promises" ? { setTimeout: schedule.pause } : createRequire(import.meta.url)(name);
  script.runInThisContext()(module, require, ...GLOBALS.map((each) => globals[each]));
  return module.exports;
}

export function startIsolate(script: Script, schedule: Schedule, name: string, outside: Outside): Isolate {
  const death = Promise.withResolvers<never>();
  death.promise.catch(() => {});
  const worker = start<{ default: Worker }>(script, schedule, outside).default;
  return { name, worker, death, isOver: false };
}

export const startCommands = (script: Script, schedule: Schedule): typeof Move & typeof Deletion =>
  start(script, schedule, { fetch, onLog: () => {} });

function globalsOf(schedule: Schedule, { fetch, onLog }: Outside): Globals {
  const { chance } = schedule;
  class VirtualDate extends Date {
    constructor(...given: unknown[]) {
      super(...((given.length === 0 ? [schedule.now] : given) as []));
    }

    static override now = () => schedule.now;
  }
  const repeat = (run: () => void, milliseconds: number) => {
    const id = { current: 0 };
    const again = () => {
      id.current = schedule.startTimer(milliseconds, again);
      run();
    };
    id.current = schedule.startTimer(milliseconds, again);
    return id;
  };
  const timeout = (milliseconds: number) => {
    const controller = new AbortController();
    schedule.startTimer(milliseconds, () =>
      controller.abort(new DOMException("The operation timed out", "TimeoutError")),
    );
    return controller.signal;
  };
  return {
    Date: VirtualDate,
    Math: Object.create(Math, { random: { value: () => chance.number() } }),
    crypto: {
      subtle: subtleOf(schedule),
      getRandomValues: (array: Uint8Array) => chance.bytes(array),
      randomUUID: () => chance.uuid(),
      DigestStream,
    },
    fetch,
    console: { log: onLog, error: onLog, warn: onLog },
    AbortSignal: { timeout },
    CompressionStream: streamOf(gzipSync),
    DecompressionStream: streamOf(gunzipSync),
    // Called with `new`: the length is not checked.
    FixedLengthStream: function fixedLengthStream() {
      return new TransformStream();
    },
    setTimeout: (run: () => void, milliseconds = 0) => schedule.startTimer(milliseconds, run),
    clearTimeout: (id?: number) => schedule.stopTimer(id),
    setInterval: repeat,
    clearInterval: (id?: { current: number }) => schedule.stopTimer(id?.current),
  };
}

/** Web Crypto answers from threads, in any order. */
const subtleOf = (schedule: Schedule) =>
  new Proxy(crypto.subtle, {
    get(subtle, name: keyof SubtleCrypto | "timingSafeEqual") {
      if (name === "timingSafeEqual") return (a: Uint8Array, b: Uint8Array) => timingSafeEqual(a, b);
      if (name === "digest") return digest;
      const method = subtle[name] as (...given: unknown[]) => Promise<unknown>;
      return (...given: unknown[]) => schedule.fromThread(method.apply(subtle, given));
    },
  });

async function digest(algorithm: string | { name: string }, data: ArrayBuffer | ArrayBufferView) {
  const name = typeof algorithm === "string" ? algorithm : algorithm.name;
  const bytes = ArrayBuffer.isView(data)
    ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    : Buffer.from(data);
  return new Uint8Array(createHash(name.replace("-", "")).update(bytes).digest()).buffer;
}

/** Converts everything at once, because zlib's streams answer from threads. */
const streamOf = (convert: (bytes: Buffer) => Buffer) =>
  class {
    readonly #chunks: Uint8Array[] = [];
    readonly #stream = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk) => void this.#chunks.push(chunk),
      flush: (controller) => controller.enqueue(new Uint8Array(convert(Buffer.concat(this.#chunks)))),
    });

    readonly readable = this.#stream.readable;
    readonly writable = this.#stream.writable;
  };
