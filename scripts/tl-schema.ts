/** Reads the text of a TL schema: what scripts/generate-tl.ts makes code from. */
import { crc32 } from 'node:zlib';

/** A type as it stands in a field. */
export type TlType =
  | { readonly kind: 'builtin'; readonly name: '#' | 'int' | 'long' | 'int256' | 'bytes' | 'string' | 'Bool' | 'true' }
  /** A constructor's name: its fields follow without an id. */
  | { readonly kind: 'bare'; readonly name: string }
  /** A type's name: the id of one of its constructors comes first. */
  | { readonly kind: 'boxed'; readonly name: string }
  | { readonly kind: 'vector'; readonly item: TlType };

/** `name:type` or `name:flags.bit?type`. */
export interface TlField {
  readonly name: string;
  readonly type: TlType;
  readonly condition: { readonly flags: string; readonly bit: number } | null;
}

export interface TlDeclaration {
  /** `liteServer.getTime` */
  readonly name: string;
  readonly id: number;
  readonly fields: readonly TlField[];
  /** Type that it constructs, or that answers it. */
  readonly result: string;
  readonly isFunction: boolean;
  /** The line, with single spaces and without the final semicolon. */
  readonly line: string;
}

const builtins = ['#', 'int', 'long', 'int256', 'bytes', 'string', 'Bool', 'true'] as const;

/** Declarations of types that every schema repeats and every reader knows. */
const preamble =
  /^(\w+ \? = \w+|bytes data:string = Bytes|true = True|bool(True|False) = Bool|vector \{.*|int\d+ \d+\*.*)$/;

/** CRC-32 of the line without parentheses: the constructor id, unless the line states another one. */
export function lineId(line: string): number {
  return crc32(line.replace(/[()]/g, ''));
}

/** The declarations of a schema in order, without the preamble that all schemas share. */
export function parseTlSchema(text: string): TlDeclaration[] {
  const declarations: TlDeclaration[] = [];
  let isFunction = false;
  for (const part of text.replace(/\/\/.*$/gm, '').split(/;|(---\w+---)/)) {
    const line = (part ?? '').replace(/\s+/g, ' ').trim();
    if (line === '---functions---') isFunction = true;
    else if (line === '---types---') isFunction = false;
    else if (line !== '' && !preamble.test(line)) declarations.push(parseDeclaration(line, isFunction));
  }
  return declarations;
}

function parseDeclaration(line: string, isFunction: boolean): TlDeclaration {
  const match = /^([\w.]+)(?:#([0-9a-f]{8}))? (.*)= ([\w.]+)$/.exec(line);
  if (match === null) throw new Error(`not a TL declaration: ${line}`);
  const [, name, stated, body, result] = match as unknown as [string, string, string | undefined, string, string];
  const fields = (body.match(/[^\s(]+(\([^)]*\))?/g) ?? []).map(parseField);
  for (const { name: field, condition } of fields) {
    const flags = condition && fields.find((each) => each.name === condition.flags);
    if (condition !== null && (flags?.type.kind !== 'builtin' || flags.type.name !== '#')) {
      throw new Error(`${field} depends on ${condition.flags}, which is no # before it: ${line}`);
    }
  }
  const id = stated === undefined ? lineId(line) : Number.parseInt(stated, 16);
  return { name, id, fields, result, isFunction, line };
}

function parseField(text: string): TlField {
  const match = /^(\w+):(?:(\w+)\.(\d+)\?)?(.+)$/.exec(text);
  if (match === null) throw new Error(`not a field: ${text}`);
  const [, name, flags, bit, type] = match as unknown as [string, string, string | undefined, string, string];
  return { name, type: parseType(type), condition: flags === undefined ? null : { flags, bit: Number(bit) } };
}

function parseType(text: string): TlType {
  const vector = /^\(vector (.+)\)$/.exec(text);
  if (vector !== null) return { kind: 'vector', item: parseType(vector[1] as string) };
  const builtin = builtins.find((name) => name === text);
  if (builtin !== undefined) return { kind: 'builtin', name: builtin };
  const last = text.split('.').at(-1) as string;
  if (!/^\w+$/.test(last)) throw new Error(`no type that the generator knows: ${text}`);
  return { kind: /^[A-Z]/.test(last) ? 'boxed' : 'bare', name: text };
}
