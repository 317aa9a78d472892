// Over 250 lines: one class that reads fields of a schema and writes their code; halves would share all their private parts.
/** Makes TypeScript from declarations of a TL schema: one file per part of the schema, straight-line code per declaration. */
import type { TlDeclaration, TlField, TlType } from './tl-schema.js';

/** Names that the generated functions use themselves. */
const taken = new Set(['reader', 'writer', 'value', 'field', 'item', 'items', 'error']);

const fieldTypes = {
  '#': 'number',
  int: 'number',
  long: 'bigint',
  int256: 'Uint8Array',
  bytes: 'Uint8Array',
  string: 'string',
  Bool: 'boolean',
  true: 'boolean',
};
const methods = {
  '#': 'nat',
  int: 'int',
  long: 'long',
  int256: 'int256',
  bytes: 'bytes',
  string: 'string',
  Bool: 'bool',
};
const sizes = { '#': 4, int: 4, long: 8, int256: 32, bytes: 4, string: 4, Bool: 4, true: 0 };

/** `liteServer.signatureSet.simplex` → `LiteServerSignatureSetSimplex` */
export function typeScriptName(name: string): string {
  return name.replace(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Which file of `generated/` a declaration goes to. */
function fileOf(name: string, isFunction: boolean): string {
  const space = name.split('.')[0] as string;
  if (space === 'liteServer') return isFunction ? 'lite-server-functions' : 'lite-server';
  if (space === 'tonNode') return 'ton-node';
  return space === 'ton' || space === 'consensus' ? 'consensus' : 'adnl';
}

/** All files, by name. Declarations that occur several times must be the same each time. */
export function generateTl(declarations: readonly TlDeclaration[]): Map<string, string> {
  const schema = new Schema(declarations);
  const files = new Map<string, string>();
  for (const file of new Set(schema.declarations.map(({ name, isFunction }) => fileOf(name, isFunction)))) {
    files.set(`${file}.ts`, new FileWriter(schema, file).write());
  }
  return files;
}

class Schema {
  readonly declarations: readonly TlDeclaration[];
  readonly #byName = new Map<string, TlDeclaration>();
  readonly #constructors = new Map<string, TlDeclaration[]>();

  constructor(declarations: readonly TlDeclaration[]) {
    for (const each of declarations) {
      const known = this.#byName.get(each.name);
      if (known !== undefined && known.line !== each.line) throw new Error(`two forms of ${each.name}`);
      if (known !== undefined) continue;
      this.#byName.set(each.name, each);
      if (!each.isFunction) this.#constructors.set(each.result, [...this.constructorsOf(each.result), each]);
    }
    this.declarations = [...this.#byName.values()];
  }

  named(name: string): TlDeclaration {
    const found = this.#byName.get(name);
    if (found === undefined) throw new Error(`${name} is not declared`);
    return found;
  }

  constructorsOf(type: string): readonly TlDeclaration[] {
    return this.#constructors.get(type) ?? [];
  }

  /** The constructor of a type that has one only. */
  onlyConstructor(type: string): TlDeclaration | null {
    const constructors = this.constructorsOf(type);
    if (constructors.length === 0) throw new Error(`${type} has no constructor`);
    return constructors.length === 1 ? (constructors[0] as TlDeclaration) : null;
  }

  /** Name of a type with several constructors; one of these may have the same name but for the case. */
  unionName(type: string): string {
    const own = typeScriptName(type);
    return this.declarations.some(({ name }) => typeScriptName(name) === own) ? `${own}Type` : own;
  }

  isVariant(declaration: TlDeclaration): boolean {
    return !declaration.isFunction && this.constructorsOf(declaration.result).length > 1;
  }

  /** The fewest bytes that a value of the type takes. */
  leastSize(type: TlType): number {
    if (type.kind === 'builtin') return sizes[type.name];
    if (type.kind === 'vector') return 4;
    if (type.kind === 'bare') return this.#leastSizeOfFields(this.named(type.name));
    return 4 + Math.min(...this.constructorsOf(type.name).map((each) => this.#leastSizeOfFields(each)));
  }

  #leastSizeOfFields({ fields }: TlDeclaration): number {
    return fields.reduce((sum, { type, condition }) => sum + (condition === null ? this.leastSize(type) : 0), 0);
  }
}

class FileWriter {
  readonly #schema: Schema;
  readonly #file: string;
  /** Specifier → names. */
  readonly #imports = new Map<string, Set<string>>();

  constructor(schema: Schema, file: string) {
    this.#schema = schema;
    this.#file = file;
  }

  write(): string {
    const own = this.#schema.declarations.filter(({ name, isFunction }) => fileOf(name, isFunction) === this.#file);
    const parts = own.map((each) => this.#declaration(each));
    const unions = new Set(own.filter((each) => this.#schema.isVariant(each)).map(({ result }) => result));
    for (const type of unions) parts.push(this.#union(type));
    const functions = own.filter(({ isFunction, result }) => isFunction && result !== 'Object');
    if (functions.length > 1) parts.push(functionList(this.#file, functions));
    return `// Generated by scripts/generate-tl.ts from schemas/; do not edit.\n${this.#importLines()}\n${parts.join('\n')}`;
  }

  #importLines(): string {
    return [...this.#imports]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([specifier, names]) => {
        const list = [...names].sort((a, b) => (bareName(a) < bareName(b) ? -1 : 1));
        const types = list.every((name) => name.startsWith('type '));
        const shown = list.map((name) => (types ? bareName(name) : name));
        const line = `import ${types ? 'type ' : ''}{ ${shown.join(', ')} } from '${specifier}';\n`;
        if (line.length <= 120) return line;
        return `import ${types ? 'type ' : ''}{\n${shown.map((name) => `  ${name},\n`).join('')}} from '${specifier}';\n`;
      })
      .join('');
  }

  #import(specifier: string, name: string): string {
    const names = this.#imports.get(specifier) ?? new Set();
    this.#imports.set(specifier, names.add(name));
    return bareName(name);
  }

  /** The name of a constructor's or type's code, imported if it lives elsewhere. */
  #refer(name: string): string {
    this.#schema.named(name);
    const file = fileOf(name, false);
    const own = typeScriptName(name);
    return file === this.#file ? own : this.#import(`#formats/tl/generated/${file}.js`, own);
  }

  /** The same for a type as such: its only constructor, or the union of its constructors. */
  #referBoxed(type: string): string {
    const only = this.#schema.onlyConstructor(type);
    if (only !== null) return this.#refer(only.name);
    const own = this.#schema.unionName(type);
    const file = fileOf(type, false);
    return file === this.#file ? own : this.#import(`#formats/tl/generated/${file}.js`, own);
  }

  #declaration(declaration: TlDeclaration): string {
    const { name, id, fields, line, isFunction, result } = declaration;
    const own = typeScriptName(name);
    const answer = isFunction && result !== 'Object' ? this.#schema.onlyConstructor(result) : undefined;
    if (answer === null) throw new Error(`${name}: a result of several constructors is not provided for`);
    const codec =
      answer === undefined
        ? `${this.#import('#formats/tl/constructor.js', 'type TlConstructor')}<'${name}', ${own}>`
        : `${this.#import('#formats/tl/constructor.js', 'type TlFunction')}<'${name}', ${own}, typeof ${this.#refer(answer.name)}>`;
    const members = fields.map((field) => `  readonly ${field.name}: ${this.#fieldType(field)};\n`);
    if (this.#schema.isVariant(declaration)) members.unshift(`  readonly kind: '${name}';\n`);
    const type =
      members.length === 0
        ? `export type ${own} = Readonly<Record<string, never>>;\n`
        : `export interface ${own} {\n${members.join('')}}\n`;
    return [
      `/** \`${line};\` */\n${type}`,
      `export const ${own}: ${codec} = {`,
      `  name: '${name}',`,
      `  id: ${hex(id)},`,
      ...(answer === undefined ? [] : [`  result: ${this.#refer(answer.name)},`]),
      ...this.#load(declaration),
      ...this.#store(declaration),
      '};\n',
    ].join('\n');
  }

  #fieldType({ type, condition }: TlField): string {
    const plain = this.#valueType(type);
    return condition === null || plain === 'boolean' ? plain : `${plain} | null`;
  }

  #valueType(type: TlType): string {
    if (type.kind === 'builtin') return fieldTypes[type.name];
    if (type.kind === 'vector') return `readonly ${this.#valueType(type.item)}[]`;
    if (type.kind === 'bare') return this.#refer(type.name);
    return this.#referBoxed(type.name);
  }

  #load(declaration: TlDeclaration): string[] {
    const { fields, name } = declaration;
    const kind = this.#schema.isVariant(declaration) ? [`kind: '${name}'`] : [];
    const literal = `{ ${[...kind, ...fields.map((field) => field.name)].join(', ')} }`;
    if (fields.length === 0) return ['  load() {', `    return ${kind.length === 0 ? '{}' : literal};`, '  },'];
    const lines = fields.flatMap((field) => this.#loadField(field, name));
    return ['  load(reader) {', ...this.#located(fields, [...lines, `return ${literal};`]), '  },'];
  }

  #store({ fields, name }: TlDeclaration): string[] {
    if (fields.length === 0) return ['  store() {},'];
    const lines = fields.flatMap((field) => this.#storeField(field, name));
    return ['  store(value, writer) {', ...this.#located(fields, lines), '  },'];
  }

  /** Code that knows at which field it is, so that an error says so. */
  #located(fields: readonly TlField[], lines: readonly string[]): string[] {
    const hasVector = fields.some(({ type }) => type.kind === 'vector');
    return [
      `    let field = '';`,
      ...(hasVector ? ['    let item = -1;'] : []),
      '    try {',
      ...lines.map((line) => `      ${line}`),
      '    } catch (error) {',
      `      throw ${this.#import('#formats/tl/constructor.js', 'inField')}(error, field, ${hasVector ? 'item' : '-1'});`,
      '    }',
    ];
  }

  #loadField({ name, type, condition }: TlField, owner: string): string[] {
    if (taken.has(name)) throw new Error(`${owner}: a field may not be called ${name}`);
    const at = `field = '${name}';`;
    if (type.kind === 'vector') {
      if (condition !== null || type.item.kind === 'vector') throw new Error(`${owner}.${name}: not provided for`);
      const least = this.#schema.leastSize(type.item);
      if (least === 0) throw new Error(`${owner}.${name}: items without bytes could be any number`);
      return [
        at,
        `const ${name}: ${this.#valueType(type.item)}[] = [];`,
        `for (let items = reader.count(${least}), next = 0; next < items; next++) {`,
        '  item = next;',
        `  ${name}.push(${this.#loadType(type.item)});`,
        '}',
        'item = -1;',
      ];
    }
    if (condition === null) return [at, `const ${name} = ${this.#loadType(type)};`];
    const set = `(${condition.flags} & ${mask(condition.bit)})`;
    if (type.kind === 'builtin' && type.name === 'true') return [`const ${name} = ${set} !== 0;`];
    return [at, `const ${name} = ${set} === 0 ? null : ${this.#loadType(type)};`];
  }

  #loadType(type: TlType): string {
    if (type.kind === 'vector') throw new Error('a vector in a vector is not provided for');
    if (type.kind === 'bare') return `${this.#refer(type.name)}.load(reader)`;
    if (type.kind === 'boxed') {
      const only = this.#schema.onlyConstructor(type.name);
      if (only === null) return `${this.#referBoxed(type.name)}.load(reader)`;
      return `${this.#import('#formats/tl/constructor.js', 'loadBoxed')}(${this.#refer(only.name)}, reader)`;
    }
    if (type.name === 'true') throw new Error('true needs a flag');
    return `reader.${methods[type.name]}()`;
  }

  #storeField({ name, type, condition }: TlField, owner: string): string[] {
    const at = `field = '${name}';`;
    const value = `value.${name}`;
    if (type.kind === 'vector') {
      return [
        at,
        `writer.count(${value}.length);`,
        `for (item = 0; item < ${value}.length; item++) ${this.#storeType(type.item, `${value}[item]!`)};`,
        'item = -1;',
      ];
    }
    if (condition === null) return [at, `${this.#storeType(type, value)};`];
    const isTrue = type.kind === 'builtin' && type.name === 'true';
    const check = this.#import('#formats/tl/constructor.js', 'checkPresence');
    const announced = `(value.${condition.flags} & ${mask(condition.bit)}) !== 0`;
    const present = isTrue ? value : `${value} !== null`;
    const flag = `${condition.flags}.${condition.bit}`;
    return [
      at,
      `${check}(${present}, ${announced}, '${owner}', '${name}', '${flag}');`,
      ...(isTrue ? [] : [`if (${value} !== null) ${this.#storeType(type, value)};`]),
    ];
  }

  #storeType(type: TlType, value: string): string {
    if (type.kind === 'vector') throw new Error('a vector in a vector is not provided for');
    if (type.kind === 'bare') return `${this.#refer(type.name)}.store(${value}, writer)`;
    if (type.kind === 'boxed') {
      const only = this.#schema.onlyConstructor(type.name);
      if (only === null) return `${this.#referBoxed(type.name)}.store(${value}, writer)`;
      return `${this.#import('#formats/tl/constructor.js', 'storeBoxed')}(${this.#refer(only.name)}, ${value}, writer)`;
    }
    if (type.name === 'true') throw new Error('true needs a flag');
    return `writer.${methods[type.name]}(${value})`;
  }

  #union(type: string): string {
    const own = this.#schema.unionName(type);
    const members = this.#schema.constructorsOf(type);
    const names = members.map(({ name }) => this.#refer(name));
    const union = this.#import('#formats/tl/constructor.js', 'type TlUnion');
    const refuse = this.#import('#formats/tl/constructor.js', 'unknownVariant');
    return [
      `/** \`${type}\` */`,
      `export type ${own} = ${names.join(' | ')};\n`,
      `export const ${own}: ${union}<${own}> = {`,
      `  name: '${type}',`,
      `  constructors: [${names.join(', ')}],`,
      '  load(reader) {',
      '    const id = reader.constructorId();',
      ...members.map(({ id }, i) => `    if (id === ${hex(id)}) return ${names[i]}.load(reader);`),
      `    return reader.unknownConstructor(id, '${members.map(({ name }) => name).join(' or ')}');`,
      '  },',
      '  store(value, writer) {',
      '    switch (value.kind) {',
      ...members.flatMap(({ name, id }, i) => [
        `      case '${name}':`,
        `        writer.constructorId(${hex(id)});`,
        `        return ${names[i]}.store(value, writer);`,
      ]),
      '      default:',
      `        throw ${refuse}(this, value);`,
      '    }',
      '  },',
      '};\n',
    ].join('\n');
  }
}

function functionList(file: string, functions: readonly TlDeclaration[]): string {
  const name = file.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  const names = functions.map((each) => `  ${typeScriptName(each.name)},\n`).join('');
  return `/** Every function that has an answer of its own. */\nexport const ${name} = [\n${names}] as const;\n`;
}

function bareName(name: string): string {
  return name.replace(/^type /, '');
}

function hex(id: number): string {
  return `0x${id.toString(16).padStart(8, '0')}`;
}

function mask(bit: number): string {
  return `0x${(2 ** bit).toString(16)}`;
}
