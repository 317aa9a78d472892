import type { Profile } from '#api/http/http-api.js';

/** In what the two profiles of answers differ; everything else is the same in both. */
export interface Dialect {
  readonly profile: Profile;
  /**
   * A member of an object that may have no value, with the comma before it: without one it is `null` in the live service,
   * and left out where the published document is followed, whose types have no null.
   *
   * @param value JSON text
   */
  nullable(name: string, value: string | null): string;
  /** The first 32 bits of a body. The number is unsigned. */
  opcode(opcode: number): string;
  /** The shard is unsigned. */
  shard(shard: bigint): string;
  /** A list of orders without any. */
  readonly noItems: string;
  /** The tree of a trace, in which `children` may be null. */
  traceTree(json: string): string;
}

/** The published document: opcodes are integers (int32), shards numbers as text (int64), and nothing is null. */
const spec: Dialect = {
  profile: 'spec',
  nullable: (name, value) => (value === null ? '' : `,"${name}":${value}`),
  opcode: (opcode) => String(opcode | 0),
  shard: (shard) => `"${BigInt.asIntN(64, shard)}"`,
  noItems: '[]',
  // Its texts are hashes, which hold no quotes.
  traceTree: (json) => json.replaceAll('"children":null', '"children":[]'),
};

/** The live service: `"0x0f8a7ea5"`, and shards in upper-case hexadecimal without zeros in front. */
const toncenter: Dialect = {
  profile: 'toncenter',
  nullable: (name, value) => `,"${name}":${value}`,
  opcode: (opcode) => `"0x${opcode.toString(16).padStart(8, '0')}"`,
  shard: (shard) => `"${shard.toString(16).toUpperCase()}"`,
  noItems: 'null',
  traceTree: (json) => json,
};

const DIALECTS: Readonly<Record<Profile, Dialect>> = { spec, toncenter };

export function dialectOf(profile: Profile): Dialect {
  return DIALECTS[profile];
}

/** An optional member of an object, with the comma before it; left out in both profiles when there is no value. */
export function optional(name: string, value: string | null): string {
  return value === null ? '' : `,"${name}":${value}`;
}
