import {
  cellReader,
  eitherReader,
  maybeReader,
  referenceReader,
  restReader,
  snakeStringReader,
  wrappedReferenceReader,
} from '#domain/bodies/cell-readers.js';
import { bodiesErrors } from '#domain/bodies/errors.js';
import { hashmapEReader, hashmapReader } from '#domain/bodies/hashmap-readers.js';
import type { JsonObject } from '#domain/bodies/json-value.js';
import {
  extendedActionsReader,
  outListReader,
  textChunksReader,
  walletMessagesReader,
} from '#domain/bodies/list-readers.js';
import {
  atMostReader,
  bitsReader,
  boolReader,
  countedBitsReader,
  intReader,
  uintReader,
  varUintReader,
} from '#domain/bodies/number-readers.js';
import type { Reader } from '#domain/bodies/reader.js';
import { type Constructor, type Expression, type Part, parseConstructor } from '#domain/bodies/schema-expression.js';

/** What the parameters of a type stand for where it is used. */
type Arguments = ReadonlyMap<string, Expression>;

const NONE: Arguments = new Map();

/** Makes readers of the lines of a schema, each type when it is first needed. */
export class SchemaCompiler {
  readonly #lines: ReadonlyMap<string, readonly string[]>;
  readonly #types = new Map<string, Reader>();

  /** @param lines the constructors of each type */
  constructor(lines: ReadonlyMap<string, readonly string[]>) {
    this.#lines = lines;
  }

  /** A constructor alone. */
  constructorReader(line: string): Reader {
    return this.#ofConstructor(parseConstructor(line), NONE);
  }

  /** A type of the schema, with all its constructors. @throws bodies/schema, bodies/schema-type */
  typeReader(name: string, args: readonly Expression[] = []): Reader {
    const key = args.length === 0 ? name : `${name} ${JSON.stringify(args)}`;
    const known = this.#types.get(key);
    if (known !== undefined) return known;
    // Types may hold themselves: whoever needs the reader meanwhile gets one that asks for it when it reads.
    this.#types.set(key, (from, into, field) => this.#types.get(key)!(from, into, field));
    try {
      const made = this.#type(name, args);
      this.#types.set(key, made);
      return made;
    } catch (error) {
      this.#types.delete(key);
      throw error;
    }
  }

  #type(name: string, args: readonly Expression[]): Reader {
    const lines = this.#lines.get(name);
    if (lines === undefined) throw bodiesErrors['schema-type']({ type: name });
    const readers = lines.map((line) => {
      const made = parseConstructor(line);
      const bound = new Map(made.parameters.map((parameter, i) => [parameter, args[i] ?? number(0)]));
      return { tag: made.tag, tagBits: made.tagBits, read: this.#ofConstructor(made, bound) };
    });
    if (readers.length === 1) return readers[0]!.read;
    // Two names for a bit are a `Bool`, and so they are shown.
    if (readers.length === 2 && lines.every((line) => /^\w+\$[01] =/.test(line))) return boolReader;
    // What has no tag is what none of the others is.
    readers.sort((a, b) => Number(a.tagBits === 0) - Number(b.tagBits === 0));
    return (from, into, field) => {
      for (const { tag, tagBits, read } of readers) {
        if (tagBits === 0 || from.peek(tagBits) === tag) return read(from, into, field);
      }
      return false;
    };
  }

  #ofConstructor({ name, tag, tagBits, parts }: Constructor, args: Arguments): Reader {
    const read = this.#parts(parts, args);
    const cost = 16 + name.length;
    return (from, into, field) => {
      if (tagBits > 0 && from.uint(tagBits) !== tag) return false;
      if (!from.spend(cost)) return false;
      const record: JsonObject = name === '' ? {} : { '@type': name };
      into[field] = record;
      return read(from, record, '');
    };
  }

  /** Reads fields into a record that is there already. */
  #parts(parts: readonly Part[], args: Arguments): Reader {
    const names = parts.map((part) => (part.kind === 'field' ? part.name : ''));
    const readers = parts.map((part) => (part.kind === 'field' ? this.#field(part.type, args) : constraint(part)));
    const count = readers.length;
    const cost = names.reduce((sum, name) => sum + name.length + 8, 0);
    return (from, record) => {
      for (let i = 0; i < count; i++) if (!readers[i]!(from, record, names[i]!)) return false;
      return from.spend(cost);
    };
  }

  /** The type of a field, where a reference is not seen in the JSON. */
  #field(type: Expression, args: Arguments): Reader {
    switch (type.kind) {
      case 'reference':
        return isRaw(type.to) ? cellReader : referenceReader(this.#field(type.to, args));
      case 'condition': {
        const { field, bit } = type;
        const then = this.#field(type.of, args);
        return (from, record, name) => {
          const value = Number(record[field]);
          return (bit === null ? value === 0 : ((value >> bit) & 1) === 0) || then(from, record, name);
        };
      }
      case 'fields': {
        const read = this.#parts(type.parts, args);
        return (from, into, name) => {
          const record: JsonObject = {};
          into[name] = record;
          return read(from, record, '');
        };
      }
      default:
        return this.#value(type, args);
    }
  }

  /** A type that is an argument of another, where a reference is seen in the JSON. */
  #argument(type: Expression, args: Arguments): Reader {
    if (type.kind !== 'reference') return this.#field(type, args);
    return isRaw(type.to) ? cellReader : wrappedReferenceReader(this.#field(type.to, args));
  }

  #value(type: Expression, args: Arguments): Reader {
    if (type.kind !== 'name') throw bodiesErrors['schema-type']({ type: JSON.stringify(type) });
    const { name } = type;
    const bound = args.get(name);
    if (bound !== undefined && bound.kind === 'name') return this.#value(bound, NONE);
    if (bound !== undefined) return this.#argument(bound, NONE);
    const sized = /^(uint|int|bits)(\d+)$/.exec(name);
    if (sized !== null) return sizedReader(sized[1]!, Number(sized[2]));
    const [first, second] = type.args;
    switch (name) {
      case 'Bool':
        return boolReader;
      case 'Cell':
      case 'Any':
        return restReader;
      case 'SnakeString':
        return snakeStringReader;
      case '#':
        return uintReader(32);
      case '##':
        return uintReader(numberOf(first));
      case '#<=':
        return atMostReader(numberOf(first));
      case 'bits':
        return first?.kind === 'product'
          ? countedBitsReader(first.field, first.factor)
          : countedBitsReader(nameOf(first), 1);
      case 'VarUInteger':
        return varUintReader(numberOf(first));
      case 'Maybe':
        return maybeReader(this.#argument(first!, args));
      case 'Either':
        return eitherReader(this.#argument(first!, args), this.#argument(second!, args));
      case 'HashmapE':
        return hashmapEReader(numberOf(first), this.#argument(second!, args));
      case 'Hashmap':
        return hashmapReader(numberOf(first), this.#argument(second!, args));
      case 'OutList':
        return outListReader(this.typeReader('OutAction'));
      case 'W5ExtendedActionList':
        return extendedActionsReader(this.typeReader('W5ExtendedAction'));
      case 'WalletV1toV4Msgs':
        return walletMessagesReader(this.typeReader('ModeWithMessage'));
      case 'TextChunks':
        return textChunksReader(nameOf(first));
      default:
        return this.typeReader(
          name,
          type.args.map((argument) => resolved(argument, args)),
        );
    }
  }
}

/** What a parameter stands for; anything else is itself. */
function resolved(type: Expression, args: Arguments): Expression {
  return (type.kind === 'name' && type.args.length === 0 && args.get(type.name)) || type;
}

/** Whether it is just a cell: a reference to one is not told from it in the JSON. */
function isRaw(type: Expression): boolean {
  return type.kind === 'name' && type.name === 'Cell';
}

function sizedReader(kind: string, bits: number): Reader {
  if (kind === 'uint') return bits === 1 ? boolReader : uintReader(bits);
  return kind === 'int' ? intReader(bits) : bitsReader(bits);
}

function constraint(part: Part & { readonly kind: 'constraint' }): Reader {
  const { field, least, most } = part;
  return (_, record) => {
    const value = Number(record[field]);
    return value >= least && value <= most;
  };
}

function number(value: number): Expression {
  return { kind: 'number', value };
}

function numberOf(type: Expression | undefined): number {
  if (type?.kind !== 'number') throw bodiesErrors['schema-type']({ type: JSON.stringify(type) });
  return type.value;
}

function nameOf(type: Expression | undefined): string {
  if (type?.kind !== 'name') throw bodiesErrors['schema-type']({ type: JSON.stringify(type) });
  return type.name;
}
