import type { TSchema } from '@sinclair/typebox';
import { httpErrors } from '#api/http/errors.js';

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
