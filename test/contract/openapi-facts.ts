/** What a document says that a program can depend on, without its prose: a value for each place. */
export type Facts = ReadonlyMap<string, string | number | boolean>;

/** A part of a document; what is not there is undefined. */
// biome-ignore lint/suspicious/noExplicitAny: a document is read as it comes
type Json = { readonly [name: string]: any };

const VERBS = ['get', 'post', 'put', 'delete', 'patch'] as const;

/** Facts about a value besides its type. */
const LIMITS = ['format', 'default', 'minimum', 'maximum', 'minItems', 'maxItems', 'pattern'] as const;

/**
 * All facts of an OpenAPI document about its paths, parameters, bodies, answers and schemas.
 *
 * Places are `operations/GET getShards/query/seqno/type`, `schemas/Shards/shards/items`, `errors/429/error/type` and the
 * like. Objects with a name are told once; all other schemas where they are used.
 */
export function documentFacts(document: Json): Facts {
  return new FactReader(document).read();
}

class FactReader {
  readonly #document: Json;
  readonly #facts = new Map<string, string | number | boolean>();

  constructor(document: Json) {
    this.#document = document;
  }

  read(): Facts {
    for (const [path, item] of Object.entries<Json>(this.#document.paths)) {
      for (const verb of VERBS) {
        const operation = item[verb];
        if (operation !== undefined)
          this.#operation(`${verb.toUpperCase()} ${path.replace(/^\/api\/v\d\//, '')}`, operation);
      }
    }
    for (const [name, schema] of Object.entries<Json>(this.#document.components.schemas)) {
      if (isNamed(schema)) this.#named(`schemas/${name}`, schema);
    }
    return this.#facts;
  }

  /** Says something about a place; what is around it is there, then. */
  #set(at: string, value: string | number | boolean): void {
    const around = at.slice(0, at.lastIndexOf('/'));
    if (around.includes('/') && !this.#facts.has(around)) this.#set(around, true);
    this.#facts.set(at, value);
  }

  #operation(name: string, operation: Json): void {
    const at = `operations/${name}`;
    this.#set(at, true);
    this.#set(`${at}/tag`, (operation.tags ?? []).join(', '));
    for (const given of operation.parameters ?? []) {
      const parameter = this.#resolve(given);
      const place = `${at}/${parameter.in}/${parameter.name}`;
      this.#set(place, true);
      this.#set(`${place}/required`, parameter.required === true);
      this.#value(place, parameter.schema);
    }
    if (operation.requestBody !== undefined) {
      const body = this.#resolve(operation.requestBody);
      this.#set(`${at}/body`, true);
      this.#set(`${at}/body/required`, body.required === true);
      this.#value(`${at}/body`, body.content['application/json'].schema);
    }
    for (const [status, given] of Object.entries<Json>(operation.responses)) {
      const { schema } = this.#resolve(given).content['application/json'];
      this.#set(`${at}/${status}`, true);
      if (status === '200') this.#value(`${at}/200`, schema);
      else this.#error(status, schema);
    }
  }

  /** The body of one status; documents may have several that differ in their texts only. */
  #error(status: string, schema: Json): void {
    const at = `errors/${status}`;
    if (this.#facts.has(at)) return;
    this.#set(at, true);
    this.#properties(at, this.#resolve(schema));
  }

  #named(at: string, schema: Json): void {
    this.#set(at, true);
    for (const part of schema.allOf ?? [schema]) this.#properties(at, this.#resolve(part));
  }

  #properties(at: string, schema: Json): void {
    if (schema.additionalProperties !== undefined) {
      this.#set(`${at}/additionalProperties`, schema.additionalProperties !== false);
    }
    const required = new Set<string>(schema.required ?? []);
    for (const [name, property] of Object.entries<Json>(schema.properties ?? {})) {
      const place = `${at}/${name}`;
      this.#set(place, true);
      this.#set(`${place}/required`, required.has(name));
      this.#value(place, property);
    }
  }

  #value(at: string, given: Json): void {
    const schema = this.#plain(given);
    this.#set(`${at}/type`, this.#typeOf(given));
    const choice: readonly unknown[] | undefined = schema.enum;
    const constant = schema.const ?? (choice?.length === 1 ? choice[0] : undefined);
    if (constant !== undefined) this.#set(`${at}/const`, constant);
    else if (choice !== undefined) this.#set(`${at}/enum`, choice.join(', '));
    for (const limit of LIMITS) {
      // The default of a value that cannot be another one says nothing.
      if (schema[limit] === undefined || (limit === 'default' && constant !== undefined)) continue;
      this.#set(`${at}/${limit}`, schema[limit]);
    }
    for (const [value, target] of Object.entries<string>(schema.discriminator?.mapping ?? {})) {
      this.#set(`${at}/${schema.discriminator.propertyName} of ${lastOf(target)}`, value);
    }
    if (schema.type === 'array') {
      this.#set(`${at}/items`, true);
      this.#value(`${at}/items`, schema.items);
    }
    if (schema.type === 'object' && given.$ref === undefined) this.#properties(at, schema);
  }

  /** `string`, `integer or string`, `TonBlockIdExt`, `list of Message`. */
  #typeOf(given: Json): string {
    if (given.$ref !== undefined && isNamed(this.#resolve(given))) return lastOf(given.$ref);
    const schema = this.#resolve(given);
    const members: readonly Json[] | undefined = schema.oneOf ?? schema.anyOf;
    if (members !== undefined) return [...new Set(members.map((member) => this.#typeOf(member)))].sort().join(' or ');
    if (schema.type === 'array') return `list of ${this.#typeOf(schema.items)}`;
    if (Array.isArray(schema.type)) return [...schema.type].sort().join(' or ');
    return schema.type ?? 'anything';
  }

  /** What is behind a reference to a schema without a place of its own. */
  #plain(given: Json): Json {
    if (given.$ref === undefined) return given;
    const schema = this.#resolve(given);
    return isNamed(schema) ? {} : { ...schema, ...given };
  }

  #resolve(given: Json): Json {
    let found = given;
    while (found.$ref !== undefined) {
      const steps = found.$ref.split('/').slice(1);
      // What is named and not there may be anything.
      found = steps.reduce((value: Json | undefined, step: string) => value?.[step], this.#document) ?? {};
    }
    return found;
  }
}

/** Whether a schema has a place of its own: it is an object. Unions and lists are told where they are used. */
function isNamed({ type, allOf, properties }: Json): boolean {
  return type === 'object' || allOf !== undefined || properties !== undefined;
}

function lastOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

/** Facts as nested objects by the steps of their places: how they are kept in a file. */
export interface FactTree {
  readonly [step: string]: string | number | boolean | FactTree;
}

/** What {@link factsOfTree} reads. */
export function treeOfFacts(facts: Facts): FactTree {
  // biome-ignore lint/suspicious/noExplicitAny: built step by step
  const tree: { [step: string]: any } = {};
  for (const [place, value] of facts) {
    const steps = place.split('/');
    const last = steps.pop() as string;
    let at = tree;
    for (const step of steps) {
      if (typeof at[step] !== 'object') at[step] = {};
      at = at[step];
    }
    // That something is there goes without saying where more is said about it.
    if (value !== true || at[last] === undefined) at[last] = value;
  }
  return tree;
}

/** The facts of {@link treeOfFacts}, whose first steps are no facts themselves. */
export function factsOfTree(tree: FactTree): Facts {
  const facts = new Map<string, string | number | boolean>();
  const walk = (part: FactTree, around: string) => {
    for (const [step, value] of Object.entries(part)) {
      const place = around === '' ? step : `${around}/${step}`;
      if (around !== '') facts.set(place, typeof value === 'object' ? true : value);
      if (typeof value === 'object') walk(value, place);
    }
  };
  walk(tree, '');
  return facts;
}
