import { messageBodyErrors } from '#domain/message-bodies/errors.js';

/** The type of a field, or an argument of a type. */
export type SchemaExpression =
  /** A type or number by its name, with arguments: `uint64`, `X`, `(HashmapE 32 int32)`. */
  | { readonly kind: 'name'; readonly name: string; readonly args: readonly SchemaExpression[] }
  | { readonly kind: 'number'; readonly value: number }
  /** `(len * 8)`. */
  | { readonly kind: 'product'; readonly field: string; readonly factor: number }
  /** `^X`. */
  | { readonly kind: 'reference'; readonly to: SchemaExpression }
  /** `[ … ]`: fields without a constructor. */
  | { readonly kind: 'fields'; readonly parts: readonly SchemaPart[] }
  /** `flags . 0?X`: present if the bit is set. `count?X`: present if the field is not 0. */
  | { readonly kind: 'condition'; readonly field: string; readonly bit: number | null; readonly of: SchemaExpression };

/** A part of a constructor: a field, or a constraint on an earlier field. */
export type SchemaPart =
  /** The name may be empty. */
  | { readonly kind: 'field'; readonly name: string; readonly type: SchemaExpression }
  | { readonly kind: 'constraint'; readonly field: string; readonly least: number; readonly most: number };

/** A line of a schema: `name#tag field:Type … = Result args;`. */
export interface SchemaConstructor {
  /** Empty for `_`. */
  readonly name: string;
  readonly tag: number;
  readonly tagBits: number;
  readonly parts: readonly SchemaPart[];
  readonly result: string;
  /** Parameters of the result, such as `X`. */
  readonly parameters: readonly string[];
}

const TOKEN = /\s*(#<=|##|#<|<=|>=|[\w,]+(?:[#$]\w+)?|[#:?.^()[\]{}*=;])/y;

/**
 * Parses a line of TL-B, in the subset that the schema of message bodies uses.
 * @throws bodies/schema for anything else
 */
export function parseBodySchemaLine(line: string): SchemaConstructor {
  const tokens = new Tokens(line);
  const [head, mark, digits = ''] = tokens.next().split(/([#$])/) as [string, string?, string?];
  const bits = digits === '_' ? '' : mark === '#' ? hexBits(digits) : digits;
  const parts = parseParts(tokens, '=');
  const result = tokens.next();
  const parameters: string[] = [];
  for (let token = tokens.next(); token !== ';'; token = tokens.next()) parameters.push(token);
  return {
    name: head === '_' ? '' : head,
    tag: bits === '' ? 0 : Number.parseInt(bits, 2),
    tagBits: bits.length,
    parts,
    result,
    parameters,
  };
}

function hexBits(digits: string): string {
  return [...digits].map((digit) => Number.parseInt(digit, 16).toString(2).padStart(4, '0')).join('');
}

function parseParts(tokens: Tokens, end: string): SchemaPart[] {
  const parts: SchemaPart[] = [];
  for (let token = tokens.next(); token !== end; token = tokens.next()) {
    if (token === '{') {
      parts.push(parseConstraint(tokens));
    } else {
      tokens.expect(':');
      parts.push({ kind: 'field', name: token === '_' ? '' : token, type: parseFieldType(tokens) });
    }
  }
  return parts;
}

function parseConstraint(tokens: Tokens): SchemaPart {
  const field = tokens.next();
  const least = tokens.next() === '>=';
  const bound = Number(tokens.next());
  tokens.expect('}');
  return { kind: 'constraint', field, least: least ? bound : 0, most: least ? Number.POSITIVE_INFINITY : bound };
}

function parseFieldType(tokens: Tokens): SchemaExpression {
  const type = parseExpression(tokens);
  if (type.kind !== 'name') return type;
  let bit: number | null = null;
  if (tokens.accept('.')) bit = Number(tokens.next());
  else if (!tokens.is('?')) return type;
  tokens.expect('?');
  return { kind: 'condition', field: type.name, bit, of: parseExpression(tokens) };
}

function parseExpression(tokens: Tokens): SchemaExpression {
  const token = tokens.next();
  if (token === '^') return { kind: 'reference', to: parseExpression(tokens) };
  if (token === '[') return { kind: 'fields', parts: parseParts(tokens, ']') };
  if (token !== '(') {
    if (!/^[\w#]/.test(token)) throw tokens.refuse();
    return /^\d+$/.test(token) ? { kind: 'number', value: Number(token) } : { kind: 'name', name: token, args: [] };
  }
  const first = parseExpression(tokens);
  if (tokens.accept(')')) return first;
  if (first.kind !== 'name') throw tokens.refuse();
  if (tokens.accept('*')) {
    const factor = Number(tokens.next());
    tokens.expect(')');
    return { kind: 'product', field: first.name, factor };
  }
  const args: SchemaExpression[] = [];
  while (!tokens.accept(')')) args.push(parseExpression(tokens));
  return { kind: 'name', name: first.name, args };
}

/** The tokens of a line. */
class Tokens {
  readonly #line: string;
  readonly #tokens: string[] = [];
  #at = 0;

  constructor(line: string) {
    this.#line = line;
    const pattern = new RegExp(TOKEN);
    for (let match = pattern.exec(line); match !== null; match = pattern.exec(line)) this.#tokens.push(match[1]!);
    if (this.#tokens.at(-1) !== ';') throw this.refuse();
  }

  is(token: string): boolean {
    return this.#tokens[this.#at] === token;
  }

  next(): string {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw this.refuse();
    return token;
  }

  accept(token: string): boolean {
    if (!this.is(token)) return false;
    this.#at++;
    return true;
  }

  expect(token: string): void {
    if (!this.accept(token)) throw this.refuse();
  }

  refuse(): Error {
    return messageBodyErrors.schema({ line: this.#line, word: this.#at });
  }
}
