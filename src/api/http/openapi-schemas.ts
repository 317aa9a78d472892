import type { TSchema } from '@sinclair/typebox';
import { httpErrors } from '#api/http/errors.js';

/** A JSON value of the document. */
export type JsonObject = { [name: string]: unknown };

/** Collects the named schemas of a document, and writes schemas with references to them. */
export class SchemaComponents {
  readonly #schemas = new Map<string, JsonObject>();
  /** What each name was made from: one name must mean one schema. */
  readonly #sources = new Map<string, string>();

  /** All named schemas, in the order in which they were met. */
  get schemas(): JsonObject {
    return Object.fromEntries(this.#schemas);
  }

  /**
   * A schema as JSON; those with an `$id` become components.
   *
   * @throws http/bad-endpoint when two different schemas have one name
   */
  write(schema: TSchema): JsonObject {
    return this.#write(schema) as JsonObject;
  }

  /** Adds a component under a name, and gives the reference. */
  add(name: string, schema: JsonObject | TSchema): JsonObject {
    const { $id: _, ...rest } = schema as JsonObject;
    const source = JSON.stringify(rest);
    const known = this.#sources.get(name);
    if (known === undefined) {
      this.#sources.set(name, source);
      // Placed before its parts are written: it may contain itself.
      const component: JsonObject = {};
      this.#schemas.set(name, component);
      Object.assign(component, this.#writeParts(rest));
    } else if (known !== source) {
      throw httpErrors['bad-endpoint']({ endpoint: name, problem: 'two different schemas have this name' });
    }
    return referenceTo(name);
  }

  #write(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((part) => this.#write(part));
    if (typeof value !== 'object' || value === null) return value;
    const schema = value as JsonObject;
    const { $id, $ref, $defs } = schema;
    if (typeof $id === 'string') return this.add($id, schema);
    if (typeof $ref === 'string' && !$ref.startsWith('#')) {
      for (const [name, definition] of Object.entries(($defs ?? {}) as JsonObject))
        this.add(name, definition as TSchema);
      const { $ref: _, $defs: __, ...beside } = schema;
      return { ...(this.#writeParts(beside) as JsonObject), ...referenceTo($ref) };
    }
    return this.#writeParts(schema);
  }

  #writeParts(schema: JsonObject): JsonObject {
    const written: JsonObject = {};
    for (const [key, part] of Object.entries(schema)) {
      // Names of properties are not keywords; values that are data stay as they are.
      if (key === 'properties' || key === 'patternProperties') written[key] = this.#writeEach(part as JsonObject);
      else written[key] = DATA.has(key) ? part : this.#write(part);
    }
    return written;
  }

  #writeEach(schemas: JsonObject): JsonObject {
    return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, this.#write(schema)]));
  }
}

/** Keywords whose value is data, not a schema. */
const DATA = new Set(['const', 'default', 'enum', 'example', 'examples', 'required', 'discriminator']);

function referenceTo(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}
