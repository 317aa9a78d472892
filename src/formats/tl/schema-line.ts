import { crc32 } from 'node:zlib';
import {
  checkPresence,
  inField,
  loadBoxed,
  storeBoxed,
  type TlConstructor,
  type TlFunction,
  type TlUnion,
  type TlValue,
  unknownVariant,
} from '#formats/tl/constructor.js';
import { tlErrors } from '#formats/tl/errors.js';

// biome-ignore lint/suspicious/noExplicitAny: types of all values
type AnyConstructor<Type extends string = string> = TlConstructor<string, any, Type>;
// biome-ignore lint/suspicious/noExplicitAny: types of all values
type AnyType = AnyConstructor | TlUnion<any>;
type AnyTypes = readonly AnyType[];

/**
 * A type with one constructor. The line is quoted from the schema whole; the id, the fields and the TypeScript type of the
 * values follow from it.
 *
 * @param types the types that the fields refer to, by constructor (`tonNode.blockIdExt`, bare) or by type
 *   (`liteServer.SignatureSet`, boxed)
 * @throws tl/schema-line when the line is malformed or refers to a type that is not given
 */
export function tlRecord<const Line extends string, const Types extends AnyTypes>(line: Line, ...types: Types) {
  return compile(line, types, false) as TlConstructor<NameOf<Line>, FieldValues<Line, Types>, ResultOf<Line>>;
}

/** One constructor of a type that has several: as {@link tlRecord}, with its name in the value as `kind`. */
export function tlVariant<const Line extends string, const Types extends AnyTypes>(line: Line, ...types: Types) {
  return compile(line, types, true) as TlConstructor<NameOf<Line>, VariantValues<Line, Types>, ResultOf<Line>>;
}

/** A function and the constructor of its result. Its arguments are read and written like the fields of a constructor. */
export function tlFunction<
  const Line extends string,
  Result extends AnyConstructor<ResultOf<Line>>,
  const Types extends AnyTypes,
>(line: Line, result: Result, ...types: Types) {
  return { ...compile(line, types, false), result } as TlFunction<NameOf<Line>, FieldValues<Line, Types>, Result>;
}

/** A type with several constructors, distinguished by their ids. */
export function tlUnion<const Name extends string, const C extends readonly AnyConstructor<Name>[]>(
  name: Name,
  ...constructors: C
): TlUnion<TlValue<C[number]>, Name> {
  const names = constructors.map((each) => each.name).join(' or ');
  return {
    name,
    constructors,
    leastBytes: 4 + Math.min(...constructors.map((each) => each.leastBytes)),
    load(reader) {
      const id = reader.constructorId();
      for (const each of constructors) if (each.id === id) return each.load(reader);
      return reader.unknownConstructor(id, names);
    },
    store(value, writer) {
      const { kind } = value as { readonly kind: string };
      for (const each of constructors) if (each.name === kind) return storeBoxed(each, value, writer);
      throw unknownVariant(name, constructors, kind);
    },
  };
}

type Words<Line extends string> = Line extends `${infer Above}\n${infer Below}`
  ? Words<`${Above} ${Below}`>
  : Line extends `${infer Word} ${infer Rest}`
    ? Word extends ''
      ? Words<Rest>
      : [Word, ...Words<Rest>]
    : [Line];
type FirstWord<Line extends string> = Line extends `${infer Word} ${string}` ? Word : Line;
/** The constructor's name, without the id that some lines state. */
type NameOf<Line extends string> = FirstWord<Line> extends `${infer Name}#${string}` ? Name : FirstWord<Line>;
type ResultOf<Line extends string> = Line extends `${string} = ${infer Type};` ? Type : never;

interface BuiltinValues {
  readonly '#': number;
  readonly int: number;
  readonly long: bigint;
  readonly int256: Uint8Array;
  readonly bytes: Uint8Array;
  readonly string: string;
  readonly Bool: boolean;
}
type ValueNamed<Name, Types extends AnyTypes> = Name extends keyof BuiltinValues
  ? BuiltinValues[Name]
  : TlValue<Extract<Types[number], { readonly name: Name } | { readonly type: Name }>>;

/** From the words of a line after the name. */
type Fields<Rest, Types extends AnyTypes> = Rest extends [`${infer Name}:(vector`, `${infer Item})`, ...infer More]
  ? { readonly [K in Name]: readonly ValueNamed<Item, Types>[] } & Fields<More, Types>
  : Rest extends [`${infer Name}:${string}.${number}?${infer Type}`, ...infer More]
    ? { readonly [K in Name]: Type extends 'true' ? boolean : ValueNamed<Type, Types> | null } & Fields<More, Types>
    : Rest extends [`${infer Name}:${infer Type}`, ...infer More]
      ? { readonly [K in Name]: ValueNamed<Type, Types> } & Fields<More, Types>
      : unknown;
type AfterName<Line extends string> = Words<Line> extends [string, ...infer Rest] ? Rest : never;
/** One flat object type, also in the messages of the compiler. */
type Flat<T> = T extends infer Object ? { readonly [K in keyof Object]: Object[K] } : never;
type FieldValues<Line extends string, Types extends AnyTypes> =
  AfterName<Line> extends ['=', string] ? Readonly<Record<string, never>> : Flat<Fields<AfterName<Line>, Types>>;
type VariantValues<Line extends string, Types extends AnyTypes> = Flat<
  { readonly kind: NameOf<Line> } & Fields<AfterName<Line>, Types>
>;

/** Types that every schema has, and the fewest bytes that a value takes. `true` is the value of an optional field without bytes. */
const BUILTINS: ReadonlyMap<string, number> = new Map(
  Object.entries({ '#': 4, int: 4, long: 8, int256: 32, bytes: 4, string: 4, Bool: 4, true: 0 }),
);

interface TlField {
  readonly name: string;
  readonly type: string;
  readonly isVector: boolean;
  /** `flags.bit?`: the field is there if the bit of an earlier field is set. */
  readonly flag: { readonly field: string; readonly bit: number } | null;
}

/** Turns a line into two straight-line functions: no loop over fields at run time, one object literal. */
function compile(line: string, types: AnyTypes, withKind: boolean): TlConstructor {
  const flat = line.replace(/\s+/g, ' ').replace(/;$/, '');
  const match = /^([\w.]+)(?:#([0-9a-f]{8}))? (.*)= ([\w.]+)$/.exec(flat);
  if (match === null) throw tlErrors['schema-line']({ line, problem: 'it is not NAME FIELDS = TYPE;' });
  const [, name, statedId, body, type] = match as unknown as [string, string, string | undefined, string, string];
  const fields = (body.match(/[^\s(]+(\([^)]*\))?/g) ?? []).map((text) => parseField(text, line));
  const id = statedId === undefined ? crc32(flat.replace(/[()]/g, '')) : Number.parseInt(statedId, 16);

  const load: string[] = [];
  const store: string[] = [];
  let leastBytes = 0;
  const index = (field: string) => fields.findIndex((each) => each.name === field);
  fields.forEach((field, i) => {
    const { flag, isVector } = field;
    const item = itemType(field.type, types, line);
    const key = JSON.stringify(field.name);
    const set = flag === null ? '' : `(FLAGS & ${2 ** flag.bit}) !== 0`;
    load.push(`field = ${key};`);
    store.push(`field = ${key};`);
    if (isVector) {
      if (item.leastBytes === 0)
        throw tlErrors['schema-line']({ line, problem: `items of ${field.name} take no bytes` });
      leastBytes += 4;
      load.push(
        `const v${i} = [];`,
        `for (let count = reader.count(${item.leastBytes}), next = 0; next < count; next++) { item = next; v${i}.push(${item.load}); }`,
        'item = -1;',
      );
      store.push(
        `writer.count(value[${key}].length);`,
        `for (item = 0; item < value[${key}].length; item++) ${item.store(`value[${key}][item]`)};`,
        'item = -1;',
      );
      return;
    }
    if (flag === null) {
      leastBytes += item.leastBytes;
      load.push(`const v${i} = ${item.load};`);
      store.push(`${item.store(`value[${key}]`)};`);
      return;
    }
    const flags = index(flag.field);
    if (flags < 0 || flags >= i || fields[flags]!.type !== '#')
      throw tlErrors['schema-line']({
        line,
        problem: `${field.name} depends on ${flag.field}, which is no # before it`,
      });
    const isTrue = field.type === 'true';
    load.push(`const v${i} = ${set.replace('FLAGS', `v${flags}`)}${isTrue ? '' : ` ? ${item.load} : null`};`);
    const present = isTrue ? `value[${key}]` : `value[${key}] !== null`;
    const announced = set.replace('FLAGS', `value[${JSON.stringify(flag.field)}]`);
    store.push(`checkPresence(${present}, ${announced}, name, ${key}, '${flag.field}.${flag.bit}');`);
    if (!isTrue) store.push(`if (value[${key}] !== null) ${item.store(`value[${key}]`)};`);
  });
  const literal = fields.map((field, i) => `${JSON.stringify(field.name)}: v${i}`);
  if (withKind) literal.unshift(`kind: ${JSON.stringify(name)}`);
  const guarded = (lines: readonly string[]) => `
    let field = '', item = -1;
    try {
      ${lines.join('\n      ')}
    } catch (error) { throw inField(error, field, item); }`;
  const source = `
    const [${types.map((_, i) => `t${i}`).join(', ')}] = types;
    return {
      load(reader) {${guarded([...load, `return { ${literal.join(', ')} };`])} },
      store(value, writer) {${guarded(store)} },
    };`;
  const make = new Function('types', 'name', 'loadBoxed', 'storeBoxed', 'checkPresence', 'inField', source);
  const codec: Pick<TlConstructor, 'load' | 'store'> = make(types, name, loadBoxed, storeBoxed, checkPresence, inField);
  return { name, id, type, line: `${flat};`, leastBytes, load: codec.load, store: codec.store };
}

function parseField(text: string, line: string): TlField {
  const match = /^(\w+):(?:(\w+)\.(\d+)\?)?(?:\(vector ([\w.#]+)\)|([\w.#]+))$/.exec(text);
  if (match === null) throw tlErrors['schema-line']({ line, problem: `${text} is not a field` });
  const [, name, flags, bit, item, type] = match as unknown as [string, string, ...(string | undefined)[]];
  const flag = flags === undefined ? null : { field: flags, bit: Number(bit) };
  if (item !== undefined && flag !== null)
    throw tlErrors['schema-line']({ line, problem: `${name} is an optional vector` });
  return { name, type: (item ?? type) as string, isVector: item !== undefined, flag };
}

interface ItemType {
  readonly leastBytes: number;
  /** An expression that reads a value. */
  readonly load: string;
  /** A statement that writes the value of an expression. */
  readonly store: (value: string) => string;
}

function itemType(type: string, types: AnyTypes, line: string): ItemType {
  const builtin = BUILTINS.get(type);
  if (builtin !== undefined) {
    const method = type === '#' ? 'nat' : type === 'Bool' ? 'bool' : type;
    return { leastBytes: builtin, load: `reader.${method}()`, store: (value) => `writer.${method}(${value})` };
  }
  const at = types.findIndex((each) => each.name === type || ('type' in each && each.type === type));
  const found = types[at];
  if (found === undefined) throw tlErrors['schema-line']({ line, problem: `${type} is not given` });
  if (found.name === type)
    return {
      leastBytes: found.leastBytes,
      load: `t${at}.load(reader)`,
      store: (value) => `t${at}.store(${value}, writer)`,
    };
  return {
    leastBytes: 4 + found.leastBytes,
    load: `loadBoxed(t${at}, reader)`,
    store: (value) => `storeBoxed(t${at}, ${value}, writer)`,
  };
}
