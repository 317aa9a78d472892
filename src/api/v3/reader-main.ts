// A reader thread: answers calls of API v3 as a whole, over database connections of its own.
import { JsonText } from '#api/http/endpoint.js';
import { compileParameters, foldingGrammar, type ParameterReader } from '#api/http/parameters.js';
import { ChangedKeys } from '#api/v3/answer-keys.js';
import { v3Context } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import { keptTexts } from '#api/v3/kept-texts.js';
import type { ReaderCall, ReaderContract } from '#api/v3/reader-protocol.js';
import { v3IndexEndpoints } from '#api/v3/v3-api.js';
import { Database } from '#drivers/store/database.js';
import { type IndexPort, indexReads } from '#drivers/store/read/index-port.js';
import { systemClock } from '#kernel/clock.js';
import { lowerPriority, ownThreadCpuTime } from '#kernel/os-thread.js';
import { transfer } from '#kernel/worker-channel.js';
import { forwardedLogger, WorkerSide } from '#kernel/worker-side.js';
import type { LookUps } from '#services/lookups/named-contracts.js';

// The event loop, which small requests wait for, goes first.
lowerPriority(ownThreadCpuTime());

const side = new WorkerSide<ReaderContract>({
  unexpected: (problem, cause) => v3Errors['reader-unexpected']({ problem }, cause),
});
const { url, isTestnet, connections, queryTimeoutMs, textBytes, looksUp } = side.start;
let { version } = side.start;
const changes = new ChangedKeys();
const kept = keptTexts(textBytes, changes, () => version);

const endpoints = new Map(v3IndexEndpoints.map((endpoint) => [endpoint.name, endpoint]));
const readers = new Map<string, ParameterReader>();
const running = new Map<number, AbortController>();
const encoder = new TextEncoder();

let database: Promise<Database> | null = null;
let index: IndexPort | null = null;

/** The database need not be available when the thread starts. */
async function openIndex(): Promise<IndexPort> {
  database ??= Database.open(
    { url, readOnly: true, writeConnections: 1, readConnections: connections, readTimeoutMs: queryTimeoutMs },
    { clock: systemClock, logger: forwardedLogger(side.notify) },
  );
  try {
    index ??= indexReads(await database);
    return index;
  } catch (error) {
    database = null;
    throw error;
  }
}

/** The result of an endpoint, as the main thread would write it. */
async function answer(id: number, call: ReaderCall, signal: AbortSignal) {
  const endpoint = endpoints.get(call.endpoint)!;
  let reader = readers.get(call.endpoint);
  if (reader === undefined) {
    reader = compileParameters(endpoint, foldingGrammar);
    readers.set(call.endpoint, reader);
  }
  const params = reader.read(call.raw, call.source);
  const headers: [string, string][] = [];
  const keys: string[] = [];
  const { profile, deadlineMs, switches, coverage } = call;
  const lookUps: LookUps = { lookUp: (named, limits) => side.host.lookUp(id, named, limits.deadlineMs) };
  const network = {
    index: index ?? (await openIndex()),
    isTestnet,
    ...kept,
    ...(coverage === null ? {} : { coverage: () => coverage }),
    ...(looksUp ? { lookUps } : {}),
  };
  let worked = 0;
  let isKept = true;
  signal.throwIfAborted();
  const context = v3Context(network, {
    read: { signal, deadlineMs },
    profile,
    switches: { ...switches, timeoutMs: switches.timeoutMs ?? queryTimeoutMs },
    group: null,
    header: (name, value) => void headers.push([name, value]),
    worked: (units) => {
      worked += units;
    },
    foresee: () => {},
    dependsOn: (key) => void keys.push(key),
    notKept: () => {
      isKept = false;
    },
  });
  const value: unknown = await endpoint.handle(params, context);
  const { json, tail } = value instanceof JsonText ? value : { json: JSON.stringify(value), tail: null };
  // An answer in UTF-8 has memory of its own.
  const bytes = typeof json === 'string' ? encoder.encode(json) : json;
  const inBytes =
    tail && typeof json === 'string' ? { ...tail, from: Buffer.byteLength(json.slice(0, tail.from)) } : tail;
  return transfer({ bytes, headers, worked, isKept, keys, tail: inBytes }, [bytes.buffer as ArrayBuffer]);
}

void side.serve(async () => ({
  ready: undefined,
  methods: {
    answer: async (id, call) => {
      const controller = new AbortController();
      running.set(id, controller);
      try {
        return await answer(id, call, controller.signal);
      } finally {
        running.delete(id);
      }
    },
    noteChange: (newest, keys) => {
      version = newest;
      changes.noteKeys(newest, keys);
    },
    cancel: (id) => running.get(id)?.abort(v3Errors['reader-cancelled']({})),
  },
  close: async () => {
    for (const controller of running.values()) controller.abort(v3Errors['reader-closed']({}));
    await (await database)?.close();
  },
}));
