import type { TSchema } from '@sinclair/typebox';
import { httpErrors } from '#api/http/errors.js';
import type { Profile } from '#api/http/http-api.js';

/** A JSON value of the document. */
export type OpenApiJson = { [name: string]: unknown };

/** Collects the named schemas of a document, and serialises schemas with references to them. */
export class SchemaComponents {
  readonly #schemas = new Map<string, OpenApiJson>();
  /** The serialised forms of each name: one name must mean one schema. */
  readonly #written = new Map<string, Set<string>>();
  /** The names of those that are added already: the same object needs no comparison. */
  readonly #added = new Map<object, string>();

  /**
   * All named schemas in the order of their first use.
   *
   * @throws http/bad-endpoint when two different schemas have one name
   */
  get schemas(): OpenApiJson {
    for (const [name, { size }] of this.#written) {
      if (size === 1) continue;
      throw httpErrors['bad-endpoint']({ endpoint: name, problem: 'two different schemas have this name' });
    }
    return Object.fromEntries(this.#schemas);
  }

  /** A schema as JSON; those with an `$id` become components. */
  write(schema: TSchema): OpenApiJson {
    return this.#write(schema) as OpenApiJson;
  }

  /** Adds a component under a name, and returns the reference. */
  add(name: string, schema: OpenApiJson | TSchema): OpenApiJson {
    if (this.#added.get(schema) === name) return referenceTo(name);
    this.#added.set(schema, name);
    const { $id: _, ...rest } = schema as OpenApiJson;
    const known = this.#schemas.get(name);
    // Added before its parts are serialised: it may contain itself.
    const component: OpenApiJson = known ?? {};
    if (known === undefined) this.#schemas.set(name, component);
    // Another object with a known name is serialised, to compare.
    const parts = this.#writeParts(rest);
    if (known === undefined) Object.assign(component, parts);
    const written = this.#written.get(name) ?? new Set();
    this.#written.set(name, written.add(JSON.stringify(parts)));
    return referenceTo(name);
  }

  #write(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((part) => this.#write(part));
    if (typeof value !== 'object' || value === null) return value;
    const schema = value as OpenApiJson;
    const { $id, $ref, $defs } = schema;
    if (typeof $id === 'string') return this.add($id, schema);
    if (typeof $ref === 'string' && !$ref.startsWith('#')) {
      for (const [name, definition] of Object.entries(($defs ?? {}) as OpenApiJson))
        this.add(name, definition as TSchema);
      const { $ref: _, $defs: __, ...beside } = schema;
      return { ...(this.#writeParts(beside) as OpenApiJson), ...referenceTo($ref) };
    }
    return this.#writeParts(schema);
  }

  #writeParts(schema: OpenApiJson): OpenApiJson {
    const written: OpenApiJson = {};
    for (const [key, part] of Object.entries(schema)) {
      // Names of properties are not keywords; values that are data stay unchanged.
      if (key === 'properties' || key === 'patternProperties') written[key] = this.#writeEach(part as OpenApiJson);
      else written[key] = DATA.has(key) ? part : this.#write(part);
    }
    return Array.isArray(written.anyOf) ? this.#union(written, schema.anyOf as OpenApiJson[]) : written;
  }

  /** A union of string constants is an `enum`; a union with a discriminator is `oneOf`. */
  #union({ anyOf, ...written }: OpenApiJson, members: readonly OpenApiJson[]): OpenApiJson {
    if (members.every((member) => member.type === 'string' && typeof member.const === 'string')) {
      return { ...written, type: 'string', enum: members.map((member) => member.const) };
    }
    const { propertyName } = (written.discriminator ?? {}) as { readonly propertyName?: string };
    if (propertyName === undefined) return { ...written, anyOf };
    const mapping = members.map(({ $id, properties }) => {
      const { const: value } = ((properties as OpenApiJson)[propertyName] ?? {}) as { readonly const?: string };
      return [value, referenceTo($id as string).$ref];
    });
    return { ...written, oneOf: anyOf, discriminator: { propertyName, mapping: Object.fromEntries(mapping) } };
  }

  #writeEach(schemas: OpenApiJson): OpenApiJson {
    return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, this.#write(schema)]));
  }
}

/** Keywords whose value is data, not a schema. */
const DATA = new Set(['const', 'default', 'enum', 'example', 'examples', 'required', 'discriminator']);

function referenceTo(name: string): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

/** Schema keyword: additional keywords in the document of each profile. */
const BY_PROFILE = 'x-by-profile';

/** Schema keyword of an object: optional members that are always present in the `toncenter` profile, null without a value. */
const NULL_IN_TONCENTER = 'x-null-in-toncenter';

/** For schemas that differ by profile in the document, in a type or a default; validation ignores it. */
export function byProfile(words: Readonly<Record<Profile, OpenApiJson>>): { readonly [BY_PROFILE]: typeof words } {
  return { [BY_PROFILE]: words };
}

/** For schemas that accept more than the document says, such as a number as a string. */
export function documentedAs(words: OpenApiJson): ReturnType<typeof byProfile> {
  return byProfile({ spec: words, toncenter: words });
}

/** For an object that leaves out optional members without a value in the `spec` profile, and has null in the other one. */
export function nullInToncenter(names: readonly string[]): { readonly [NULL_IN_TONCENTER]: typeof names } {
  return { [NULL_IN_TONCENTER]: names };
}

/** Replaces these keywords by what they mean for a profile, in a document of plain JSON. */
export function applyProfileKeywords(part: OpenApiJson, profile: Profile): void {
  for (const value of Object.values(part)) {
    if (typeof value === 'object' && value !== null) applyProfileKeywords(value as OpenApiJson, profile);
  }
  const { [BY_PROFILE]: words, [NULL_IN_TONCENTER]: names } = part;
  if (words !== undefined) {
    delete part[BY_PROFILE];
    Object.assign(part, (words as Readonly<Record<Profile, OpenApiJson>>)[profile]);
  }
  if (names !== undefined) {
    delete part[NULL_IN_TONCENTER];
    if (profile === 'toncenter') makeNullable(part, names as readonly string[]);
  }
}

function makeNullable(object: OpenApiJson, names: readonly string[]): void {
  const properties = object.properties as OpenApiJson;
  for (const name of names) properties[name] = orNull(properties[name] as OpenApiJson);
  object.required = [...((object.required as string[] | undefined) ?? []), ...names];
}

function orNull(schema: OpenApiJson): OpenApiJson {
  if (typeof schema.type === 'string' && schema.enum === undefined) return { ...schema, type: [schema.type, 'null'] };
  const { description, ...rest } = schema;
  return { ...(description === undefined ? {} : { description }), anyOf: [rest, { type: 'null' }] };
}
