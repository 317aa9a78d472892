import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  decodeMessageBody,
  decodeMessageBodyText,
  opcodeName,
  parseOpcode,
} from '#domain/message-bodies/decode-message-body.js';
import { bodyCell, readJsonLines } from '#test/support/message-bodies.js';
import { vectorPath } from '#test/support/vector-files.js';

const recordings = vectorPath('collection/recorded-net');
const messages = vectorPath('collection/messages');

interface Recording {
  readonly method: string;
  readonly path: string;
  readonly query: string | null;
  readonly body: string | null;
  readonly status: number;
  readonly response: unknown;
}

/** What an answer shows of one body. */
interface Shown {
  readonly body: string;
  readonly decoded: unknown;
  /** `undefined` where the name of the opcode is not shown. */
  readonly opcodeName?: string | null;
}

/**
 * Bodies that are decoded otherwise than the reference service does it, with the reason. There are none, and where it
 * does something odd, Tern does the same:
 * - exotic cells inside a body are written as ordinary ones;
 * - `tonco_account_refund_me` has a name, but is never decoded;
 * - layouts fit that leave over half of a body, so that a later one with the same opcode is not reached;
 * - after 32 zero bits, text in the first reference is a comment, whatever stands before it.
 */
const DIFFERENCES: ReadonlyMap<string, string> = new Map();

/** Everything in an answer that is a decoded body. */
function* shownIn(value: unknown): Generator<Shown> {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) yield* shownIn(item);
    return;
  }
  const fields = value as Record<string, unknown>;
  const content = fields.message_content as { body?: string; decoded?: unknown } | null | undefined;
  if (content?.body !== undefined && 'decoded_opcode' in fields) {
    const opcodeName = fields.decoded_opcode as string | null;
    yield { body: content.body, decoded: content.decoded, opcodeName };
  }
  for (const payload of ['custom_payload', 'forward_payload']) {
    const body = fields[payload];
    if (typeof body === 'string' && `decoded_${payload}` in fields)
      yield { body, decoded: fields[`decoded_${payload}`] };
  }
  for (const field of Object.values(fields)) yield* shownIn(field);
}

/** The bodies in all answers of some files, each once. */
function bodiesOf(files: readonly string[]): Shown[] {
  const found = new Map<string, Shown>();
  for (const file of files) {
    if (!existsSync(file)) throw new TypeError(`${file} is missing`);
    for (const line of readJsonLines<unknown>(file)) {
      for (const shown of shownIn(line)) found.set(`${shown.body} ${shown.opcodeName}`, shown);
    }
  }
  return [...found.values()];
}

function differsFrom({ body, decoded, opcodeName: name }: Shown): boolean {
  const ours = decodeMessageBody(bodyCell(body));
  if (name !== undefined && ours.opcodeName !== name) return true;
  return JSON.stringify(ours.decoded) !== JSON.stringify(decoded);
}

describe('the bodies of a recorded network', () => {
  const folder = recordings;

  it('are decoded as the reference service decodes them', () => {
    const bodies = bodiesOf([join(folder, 'v3-recordings.jsonl.br'), join(folder, 'v3-traces.jsonl.br')]);
    expect(bodies.length).toBeGreaterThan(3_700);
    const different = bodies.filter(differsFrom).map(({ body }) => body);
    expect(different.sort()).toEqual([...DIFFERENCES.keys()].sort());
  });

  it('and those of /decode', () => {
    const requests = readJsonLines<Recording>(join(folder, 'v3-recordings.jsonl.br')).filter(
      ({ path, status }) => path === '/decode' && status === 200,
    );
    for (const { method, query, body, response } of requests) {
      const wanted = method === 'GET' ? wantedBy(query ?? '') : (JSON.parse(body ?? '{}') as Partial<Wanted>);
      const { opcodes = [], bodies = [] } = wanted;
      const ours = {
        opcodes: opcodes.map((text) => opcodeName(parseOpcode(text) ?? -1) ?? 'unknown'),
        bodies: bodies.map(decodeMessageBodyText),
      };
      expect(JSON.stringify(ours), `${query} ${body}`).toBe(JSON.stringify(response));
    }
    expect(requests.length).toBeGreaterThan(100);
  });
});

interface Wanted {
  readonly opcodes: readonly string[];
  readonly bodies: readonly string[];
}

function wantedBy(query: string): Wanted {
  const parameters = new URLSearchParams(query);
  return { opcodes: parameters.getAll('opcodes'), bodies: parameters.getAll('bodies') };
}

describe('bodies of mainnet', () => {
  it('are decoded as published answers show them', () => {
    const text = readFileSync(join(messages, 'decode-pairs.json'), 'utf8');
    const pairs = JSON.parse(text) as Record<string, unknown>[];
    // Older versions of the service had another form, without `@type`.
    const shown = pairs.filter(({ decoded }) => typeof decoded === 'object' && decoded !== null && '@type' in decoded);
    for (const { body, decoded } of shown) {
      expect(JSON.stringify(decodeMessageBody(bodyCell(body as string)).decoded), body as string).toBe(
        JSON.stringify(decoded),
      );
    }
    expect(shown.length).toBe(51);
  });
});
