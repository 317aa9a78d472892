import { readFileSync } from 'node:fs';
import type { Reader } from '#domain/bodies/reader.js';
import { SchemaCompiler } from '#domain/bodies/schema-compiler.js';

const FILE = new URL('../../../data/message-bodies/message-bodies.tlb', import.meta.url);

/** Types that are bodies; all others are types of fields. */
const BODIES = new Set(['InternalMsgBody', 'ExternalMsgBody', 'ForwardPayload']);

/** The schema of message bodies: what `data/message-bodies/message-bodies.tlb` says. Layouts are compiled when they are needed. */
export class BodySchema {
  readonly #bodies = new Map<number, string[]>();
  readonly #layouts = new Map<number, readonly Reader[]>();
  readonly #compiler: SchemaCompiler;

  /** @param text lines of TL-B; each constructor has a line of its own */
  constructor(text: string) {
    const types = new Map<string, string[]>();
    for (const line of text.split('\n')) {
      if (line === '' || line.startsWith('//')) continue;
      const type = /^\w+/.exec(line.slice(line.lastIndexOf('= ') + 2))?.[0] ?? '';
      if (BODIES.has(type)) add(this.#bodies, Number.parseInt(/#(\w+)/.exec(line)?.[1] ?? '', 16), line);
      else add(types, type, line);
    }
    this.#compiler = new SchemaCompiler(types);
  }

  /** What an opcode is called, or `null` when it is unknown. */
  opcodeName(opcode: number): string | null {
    return /^[\w,]+/.exec(this.#bodies.get(opcode)?.[0] ?? '')?.[0] ?? null;
  }

  /** How a body that begins with an opcode may be laid out, in the order in which that is tried; `null` when it is unknown. */
  layouts(opcode: number): readonly Reader[] | null {
    const known = this.#layouts.get(opcode);
    if (known !== undefined) return known;
    const lines = this.#bodies.get(opcode);
    if (lines === undefined) return null;
    const readers = lines.map((line) => this.#compiler.constructorReader(line));
    this.#layouts.set(opcode, readers);
    return readers;
  }

  /** A type by its name. */
  type(name: string): Reader {
    return this.#compiler.typeReader(name);
  }
}

function add<Key>(map: Map<Key, string[]>, key: Key, line: string): void {
  const lines = map.get(key);
  if (lines === undefined) map.set(key, [line]);
  else lines.push(line);
}

let loaded: BodySchema | null = null;

/** The schema that comes with Tern; read when it is first needed. */
export function bodySchema(): BodySchema {
  loaded ??= new BodySchema(readFileSync(FILE, 'utf8'));
  return loaded;
}
