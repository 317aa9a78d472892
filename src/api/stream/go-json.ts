import { streamErrors } from '#api/stream/errors.js';

/** The kind of a JSON value, as the live service names it. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (value !== null && typeof value === 'object') return 'object';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/**
 * The fields of a request. Null and absent are the same; unknown fields are ignored. Texts of problems are those of the live service,
 * which clients compare with.
 *
 * @throws stream/request with the reason
 */
export class RequestFields {
  readonly #type: string;
  readonly #fields: ReadonlyMap<string, unknown>;

  /** @param type the name of the request in texts: `SSERequest` @param qualified the same where the whole body is wrong */
  constructor(type: string, qualified: string, value: unknown) {
    this.#type = type;
    if (value !== null && (typeof value !== 'object' || Array.isArray(value))) {
      throw problem(`json: cannot unmarshal ${kindOf(value)} into Go value of type ${qualified}`);
    }
    // Names are compared without regard to case; of equal ones the last counts.
    this.#fields = new Map(Object.entries(value ?? {}).map(([name, each]) => [name.toLowerCase(), each]));
  }

  /** @param type of the field in texts */
  text(name: string, type = 'string'): string | null {
    const value = this.#value(name);
    if (value === null) return null;
    if (typeof value !== 'string') throw this.#wrong(name, kindOf(value), type);
    return value;
  }

  flag(name: string): boolean | null {
    const value = this.#value(name);
    if (value === null) return null;
    if (typeof value !== 'boolean') throw this.#wrong(name, kindOf(value), 'bool');
    return value;
  }

  /** @param type of the items in texts */
  texts(name: string, type = 'string'): readonly string[] | null {
    const value = this.#value(name);
    if (value === null) return null;
    if (!Array.isArray(value)) throw this.#wrong(name, kindOf(value), `[]${type}`);
    return value.map((item) => {
      if (item === null) return '';
      if (typeof item !== 'string') throw this.#wrong(name, kindOf(item), type);
      return item;
    });
  }

  /** Lists of texts by name. */
  textsByName(name: string, type = 'string'): ReadonlyMap<string, readonly string[]> | null {
    const value = this.#value(name);
    if (value === null) return null;
    if (typeof value !== 'object' || Array.isArray(value))
      throw this.#wrong(name, kindOf(value), `map[string][]${type}`);
    const inner = new RequestFields(this.#type, '', {});
    const found = new Map<string, readonly string[]>();
    for (const [key, list] of Object.entries(value as object)) {
      if (list !== null && !Array.isArray(list)) throw this.#wrong(name, kindOf(list), `[]${type}`);
      const items = (list ?? []) as readonly unknown[];
      found.set(
        key,
        items.map((item) => {
          if (typeof item === 'string') return item;
          throw inner.#wrong(name, kindOf(item), type);
        }),
      );
    }
    return found;
  }

  #value(name: string): unknown {
    return this.#fields.get(name) ?? null;
  }

  #wrong(name: string, kind: string, type: string) {
    return problem(`json: cannot unmarshal ${kind} into Go struct field ${this.#type}.${name} of type ${type}`);
  }
}

function problem(text: string) {
  return streamErrors.request({ problem: text });
}
