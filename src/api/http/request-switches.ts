import type { IncomingHttpHeaders } from 'node:http';
import { type StaticDecode, type TProperties, type TSchema, Type } from '@sinclair/typebox';
import { compileParameters } from '#api/http/parameters.js';
import type { QueryGrammar } from '#api/http/query-grammar.js';
import type { RawParameters } from '#api/http/query-string.js';

/** A parameter that every method of an API understands. */
export interface RequestSwitch<Schema extends TSchema = TSchema, Default = unknown> {
  /** The header that gives it: `X-No-Metadata`. It counts before the query. */
  readonly header: string;
  /** The argument of a query that gives it: `x_no_metadata`; left out: there is none. */
  readonly query?: string;
  /** As of a parameter; with its description. */
  readonly schema: Schema;
  /** What it is for requests that do not give it. */
  readonly byDefault: Default;
}

/** The switches of an API, by what the API calls them. */
export type RequestSwitches = Readonly<Record<string, RequestSwitch>>;

/** What an API without switches declares. */
export type NoSwitches = Readonly<Record<never, RequestSwitch>>;

/** What a request says about the switches. */
export type SwitchValues<Switches extends RequestSwitches> = {
  readonly [Name in keyof Switches]: StaticDecode<Switches[Name]['schema']> | Switches[Name]['byDefault'];
};

/** Declares a switch with the type of its value inferred. */
export function requestSwitch<Schema extends TSchema, const Default>(
  definition: RequestSwitch<Schema, Default>,
): RequestSwitch<Schema, Default> {
  return definition;
}

/** The switches of one request. */
export interface ReadSwitches {
  readonly values: Readonly<Record<string, unknown>>;
  /** What was given for each, by the names of the API; null: nothing for any of them. */
  readonly given: RawParameters | null;
}

/** Of an API that has none. */
export const NO_SWITCHES: ReadSwitches = { values: {}, given: null };

/** Takes the switches out of a request. @throws http/bad-parameter */
export type TakeSwitches = (headers: IncomingHttpHeaders, query: RawParameters) => ReadSwitches;

/** Makes the reader of the switches of an API; done once. */
export function compileSwitches(switches: RequestSwitches, grammar: QueryGrammar): TakeSwitches {
  const list = Object.entries(switches).map(([name, { header, query }]) => ({
    name,
    header,
    lowerHeader: header.toLowerCase(),
    query,
  }));
  const byDefault = Object.fromEntries(Object.entries(switches).map(([name, { byDefault }]) => [name, byDefault]));
  const nothing: ReadSwitches = { values: byDefault, given: null };
  if (list.length === 0) return () => nothing;

  // Both names of each are fields, so that a refusal says which of them is wrong.
  const fields: TProperties = {};
  for (const { header, query, schema } of Object.values(switches)) {
    fields[header] = Type.Optional(schema);
    if (query !== undefined) fields[query] = Type.Optional(schema);
  }
  const params = Type.Object(fields, { additionalProperties: false });
  const reader = compileParameters({ name: 'switches', params }, grammar);

  return (headers, query) => {
    let raw: RawParameters | null = null;
    const given: RawParameters = {};
    for (const one of list) {
      const inQuery = one.query === undefined ? undefined : query[one.query];
      if (one.query !== undefined && inQuery !== undefined) delete query[one.query];
      const inHeader = headers[one.lowerHeader];
      const value = inHeader ?? inQuery;
      if (value === undefined) continue;
      raw ??= {};
      raw[inHeader === undefined ? (one.query as string) : one.header] = value;
      given[one.name] = value;
    }
    if (raw === null) return nothing;
    const read = reader.read(raw, 'query') as Readonly<Record<string, unknown>>;
    const values: Record<string, unknown> = { ...byDefault };
    for (const { name, header, query: inQuery } of list) {
      if (given[name] === undefined) continue;
      values[name] = header in raw ? read[header] : read[inQuery as string];
    }
    return { values, given };
  };
}
