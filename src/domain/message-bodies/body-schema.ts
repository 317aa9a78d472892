import { readFileSync } from 'node:fs';
import type { DecodedObject, FieldReader } from '#domain/message-bodies/body-cursor.js';
import { messageBodyErrors } from '#domain/message-bodies/errors.js';
import {
  atMostReader,
  bitsReader,
  boolReader,
  cellReader,
  countedBitsReader,
  eitherReader,
  extendedActionsReader,
  hashmapEReader,
  hashmapReader,
  intReader,
  maybeReader,
  outListReader,
  referenceReader,
  restReader,
  snakeStringReader,
  textChunksReader,
  uintReader,
  varUintReader,
  walletMessagesReader,
  wrappedReferenceReader,
} from '#domain/message-bodies/field-readers.js';
import {
  parseBodySchemaLine,
  type SchemaConstructor,
  type SchemaExpression,
  type SchemaPart,
} from '#domain/message-bodies/schema-parser.js';

const SCHEMA_FILE = new URL('../../../data/message-bodies/message-bodies.tlb', import.meta.url);

/** Types of message bodies; all others are types of fields. */
const BODY_TYPES = new Set(['InternalMsgBody', 'ExternalMsgBody', 'ForwardPayload']);

/** The schema of message bodies, `data/message-bodies/message-bodies.tlb`. Layouts are compiled on first use. */
export class MessageBodySchema {
  readonly #bodies = new Map<number, string[]>();
  readonly #layouts = new Map<number, readonly FieldReader[]>();
  readonly #compiler: SchemaCompiler;

  /** @param text lines of TL-B, one constructor each */
  constructor(text: string) {
    const types = new Map<string, string[]>();
    for (const line of text.split('\n')) {
      if (line === '' || line.startsWith('//')) continue;
      const type = /^\w+/.exec(line.slice(line.lastIndexOf('= ') + 2))?.[0] ?? '';
      if (BODY_TYPES.has(type)) appendLine(this.#bodies, Number.parseInt(/#(\w+)/.exec(line)?.[1] ?? '', 16), line);
      else appendLine(types, type, line);
    }
    this.#compiler = new SchemaCompiler(types);
  }

  /** The name of an opcode, or `null` if it is unknown. */
  opcodeName(opcode: number): string | null {
    return /^[\w,]+/.exec(this.#bodies.get(opcode)?.[0] ?? '')?.[0] ?? null;
  }

  /** The layouts of bodies with an opcode, in the order in which they are tried; `null` if it is unknown. */
  layouts(opcode: number): readonly FieldReader[] | null {
    const known = this.#layouts.get(opcode);
    if (known !== undefined) return known;
    const lines = this.#bodies.get(opcode);
    if (lines === undefined) return null;
    const readers = lines.map((line) => this.#compiler.constructorReader(line));
    this.#layouts.set(opcode, readers);
    return readers;
  }

  /** A type by its name. */
  type(name: string): FieldReader {
    return this.#compiler.typeReader(name);
  }
}

function appendLine<Key>(map: Map<Key, string[]>, key: Key, line: string): void {
  const lines = map.get(key);
  if (lines === undefined) map.set(key, [line]);
  else lines.push(line);
}

let loaded: MessageBodySchema | null = null;

/** The schema of this installation, loaded on first use. */
export function messageBodySchema(): MessageBodySchema {
  loaded ??= new MessageBodySchema(readFileSync(SCHEMA_FILE, 'utf8'));
  return loaded;
}

/** The arguments of a type by parameter. */
type Arguments = ReadonlyMap<string, SchemaExpression>;

const NONE: Arguments = new Map();

/** Compiles lines of a schema to readers, each type on first use. */
class SchemaCompiler {
  readonly #lines: ReadonlyMap<string, readonly string[]>;
  readonly #types = new Map<string, FieldReader>();

  /** @param lines the constructors of each type */
  constructor(lines: ReadonlyMap<string, readonly string[]>) {
    this.#lines = lines;
  }

  /** A single constructor. */
  constructorReader(line: string): FieldReader {
    return this.#ofConstructor(parseBodySchemaLine(line), NONE);
  }

  /** A type of the schema, with all its constructors. @throws bodies/schema, bodies/schema-type */
  typeReader(name: string, args: readonly SchemaExpression[] = []): FieldReader {
    const key = args.length === 0 ? name : `${name} ${JSON.stringify(args)}`;
    const known = this.#types.get(key);
    if (known !== undefined) return known;
    // Types may be recursive: until the reader exists, others get one that looks it up when it reads.
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

  #type(name: string, args: readonly SchemaExpression[]): FieldReader {
    const lines = this.#lines.get(name);
    if (lines === undefined) throw messageBodyErrors['schema-type']({ type: name });
    const readers = lines.map((line) => {
      const made = parseBodySchemaLine(line);
      const bound = new Map(made.parameters.map((parameter, i) => [parameter, args[i] ?? number(0)]));
      return { tag: made.tag, tagBits: made.tagBits, read: this.#ofConstructor(made, bound) };
    });
    if (readers.length === 1) return readers[0]!.read;
    // Two constructors with one bit each are decoded like `Bool`.
    if (readers.length === 2 && lines.every((line) => /^\w+\$[01] =/.test(line))) return boolReader;
    // A constructor without a tag is the fallback.
    readers.sort((a, b) => Number(a.tagBits === 0) - Number(b.tagBits === 0));
    return (from, into, field) => {
      for (const { tag, tagBits, read } of readers) {
        if (tagBits === 0 || from.peek(tagBits) === tag) return read(from, into, field);
      }
      return false;
    };
  }

  #ofConstructor({ name, tag, tagBits, parts }: SchemaConstructor, args: Arguments): FieldReader {
    const read = this.#parts(parts, args);
    const cost = 16 + name.length;
    return (from, into, field) => {
      if (tagBits > 0 && from.uint(tagBits) !== tag) return false;
      if (!from.spend(cost)) return false;
      const record: DecodedObject = name === '' ? {} : { '@type': name };
      into[field] = record;
      return read(from, record, '');
    };
  }

  /** Reads fields into an existing record. */
  #parts(parts: readonly SchemaPart[], args: Arguments): FieldReader {
    const names = parts.map((part) => (part.kind === 'field' ? part.name : ''));
    const readers = parts.map((part) => (part.kind === 'field' ? this.#field(part.type, args) : constraint(part)));
    const count = readers.length;
    const cost = names.reduce((sum, name) => sum + name.length + 8, 0);
    return (from, record) => {
      for (let i = 0; i < count; i++) if (!readers[i]!(from, record, names[i]!)) return false;
      return from.spend(cost);
    };
  }

  /** The type of a field; references do not show in the JSON. */
  #field(type: SchemaExpression, args: Arguments): FieldReader {
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
          const record: DecodedObject = {};
          into[name] = record;
          return read(from, record, '');
        };
      }
      default:
        return this.#value(type, args);
    }
  }

  /** A type that is an argument of another; references show in the JSON. */
  #argument(type: SchemaExpression, args: Arguments): FieldReader {
    if (type.kind !== 'reference') return this.#field(type, args);
    return isRaw(type.to) ? cellReader : wrappedReferenceReader(this.#field(type.to, args));
  }

  #value(type: SchemaExpression, args: Arguments): FieldReader {
    if (type.kind !== 'name') throw messageBodyErrors['schema-type']({ type: JSON.stringify(type) });
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

/** The argument of a parameter; other expressions are returned as they are. */
function resolved(type: SchemaExpression, args: Arguments): SchemaExpression {
  return (type.kind === 'name' && type.args.length === 0 && args.get(type.name)) || type;
}

/** Whether it is a plain cell: in the JSON it looks the same as a reference to one. */
function isRaw(type: SchemaExpression): boolean {
  return type.kind === 'name' && type.name === 'Cell';
}

function sizedReader(kind: string, bits: number): FieldReader {
  if (kind === 'uint') return bits === 1 ? boolReader : uintReader(bits);
  return kind === 'int' ? intReader(bits) : bitsReader(bits);
}

function constraint(part: SchemaPart & { readonly kind: 'constraint' }): FieldReader {
  const { field, least, most } = part;
  return (_, record) => {
    const value = Number(record[field]);
    return value >= least && value <= most;
  };
}

function number(value: number): SchemaExpression {
  return { kind: 'number', value };
}

function numberOf(type: SchemaExpression | undefined): number {
  if (type?.kind !== 'number') throw messageBodyErrors['schema-type']({ type: JSON.stringify(type) });
  return type.value;
}

function nameOf(type: SchemaExpression | undefined): string {
  if (type?.kind !== 'name') throw messageBodyErrors['schema-type']({ type: JSON.stringify(type) });
  return type.name;
}
