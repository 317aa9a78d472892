import type { IncomingHttpHeaders } from 'node:http';
import { httpErrors } from '#api/http/errors.js';
import type { Profile } from '#api/http/http-api.js';
import type { OpenApiJson } from '#api/http/openapi-schemas.js';

/** Prefix of all paths whose profile is `toncenter`. */
export const TONCENTER_MOUNT = '/toncenter';

/**
 * The profile of a request: by its path, else by `X-Tern-Profile`, else `toncenter` for clients that send
 * `X-Ton-Client-Version`, else the default of the server.
 *
 * @throws http/bad-parameter for an unknown profile
 */
export function chooseProfile(ofPath: Profile | null, headers: IncomingHttpHeaders, byDefault: Profile): Profile {
  if (ofPath !== null) return ofPath;
  const named = headers['x-tern-profile'];
  if (named === undefined) return headers['x-ton-client-version'] === undefined ? byDefault : 'toncenter';
  if (named === 'spec' || named === 'toncenter') return named;
  throw httpErrors['bad-parameter']({ parameter: 'X-Tern-Profile', problem: 'it must be spec or toncenter' });
}

/** Renames the types in a serialised result. */
export type RenameTypes = (json: string) => string;

/**
 * Renames values of `@type` by a table. Quotes within strings are escaped in JSON, so a match, which begins with an unescaped
 * quote after `{` or `,`, is a key and never part of a string.
 */
export function typeRenamer(names: Readonly<Record<string, string>>): RenameTypes {
  const table = new Map(Object.entries(names).filter(([from, to]) => from !== to));
  if (table.size === 0) return (json) => json;
  const alternatives = [...table.keys()].map((name) => name.replace(/[^A-Za-z0-9]/g, '\\$&')).join('|');
  const pattern = new RegExp(`(?<=[{,]"@type":")(?:${alternatives})(?=")`, 'g');
  return (json) => json.replace(pattern, (name) => table.get(name) as string);
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
