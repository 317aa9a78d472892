import { liteErrors } from '#drivers/lite/errors.js';
import { fromBase64 } from '#kernel/bytes/bytes.js';

const MAX_SHOWN = 60;

/** A place in a JSON file: reads what must stand there, and says where and what is wrong if it does not. */
export class JsonField {
  readonly value: unknown;
  readonly #file: string;
  /** `liteservers[3].id.key`; empty for the whole. */
  readonly #path: string;

  constructor(file: string, path: string, value: unknown) {
    this.#file = file;
    this.#path = path;
    this.value = value;
  }

  get isAbsent(): boolean {
    return this.value === undefined;
  }

  /** @throws lite/bad-config */
  refuse(allowed: string): never {
    const field = this.#path === '' ? 'the whole' : this.#path;
    throw liteErrors['bad-config']({ file: this.#file, field, found: shown(this.value), allowed });
  }

  /** A member of the object that must stand here. */
  member(name: string): JsonField {
    const { value } = this;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) this.refuse('an object');
    const path = this.#path === '' ? name : `${this.#path}.${name}`;
    const member = Object.hasOwn(value as object, name) ? (value as Record<string, unknown>)[name] : undefined;
    return new JsonField(this.#file, path, member);
  }

  /** The items of the list that must stand here; none when nothing does. */
  items(): JsonField[] {
    const { value } = this;
    if (value === undefined) return [];
    if (!Array.isArray(value)) this.refuse('a list');
    return value.map((item, i) => new JsonField(this.#file, `${this.#path}[${i}]`, item));
  }

  integer(least: number, most: number): number {
    const { value } = this;
    if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
    return this.refuse(`a whole number from ${least} to ${most}`);
  }

  /**
   * A number of 64 bits with a sign, as number or as string. Numbers beyond 2^53 are what is left of them after a program
   * that has only floating-point ones; the shards that are in use survive that.
   */
  long(): bigint {
    const { value } = this;
    const isText = typeof value === 'string' && /^-?\d{1,19}$/.test(value);
    if (!isText && !Number.isInteger(value)) this.refuse('a whole number of 64 bits');
    const long = BigInt(value as string | number);
    return BigInt.asIntN(64, long) === long ? long : this.refuse('a whole number of 64 bits, from -2^63 to 2^63 - 1');
  }

  text(): string {
    const { value } = this;
    return typeof value === 'string' && value !== '' ? value : this.refuse('a text');
  }

  /** 32 bytes in base64. */
  bytes32(): Uint8Array {
    const { value } = this;
    const bytes = typeof value === 'string' ? fromBase64(value) : null;
    return bytes?.length === 32 ? bytes : this.refuse('32 bytes in base64');
  }

  /** The constructor that `@type` names: one of these. */
  type(...allowed: readonly string[]): string {
    const type = this.member('@type');
    if (typeof type.value === 'string' && allowed.includes(type.value)) return type.value;
    return type.refuse(allowed.map((each) => `"${each}"`).join(' or '));
  }
}

function shown(value: unknown): string {
  if (value === undefined) return 'absent';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
