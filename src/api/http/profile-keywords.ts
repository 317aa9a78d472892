import type { Profile } from '#api/http/http-api.js';
import type { JsonObject } from '#api/http/openapi-schemas.js';

/** Keyword of a schema: what the document of each profile says of it besides. */
const BY_PROFILE = 'x-by-profile';

/** Keyword of an object: optional members that are always there in the `toncenter` profile, and null without a value. */
const NULL_IN_TONCENTER = 'x-null-in-toncenter';

/** For schemas whose documents differ by profile, in a type or a default; nothing is validated by it. */
export function byProfile(words: Readonly<Record<Profile, JsonObject>>): { readonly [BY_PROFILE]: typeof words } {
  return { [BY_PROFILE]: words };
}

/** For schemas that take more than their documents say: a number as text, and the like. */
export function documentedAs(words: JsonObject): ReturnType<typeof byProfile> {
  return byProfile({ spec: words, toncenter: words });
}

/** For an object that leaves out optional members without a value in the `spec` profile, and else has null there. */
export function nullInToncenter(names: readonly string[]): { readonly [NULL_IN_TONCENTER]: typeof names } {
  return { [NULL_IN_TONCENTER]: names };
}

/** Puts what the keywords say for a profile in their place, in a document that is plain JSON. */
export function applyProfileKeywords(part: JsonObject, profile: Profile): void {
  for (const value of Object.values(part)) {
    if (typeof value === 'object' && value !== null) applyProfileKeywords(value as JsonObject, profile);
  }
  const { [BY_PROFILE]: words, [NULL_IN_TONCENTER]: names } = part;
  if (words !== undefined) {
    delete part[BY_PROFILE];
    Object.assign(part, (words as Readonly<Record<Profile, JsonObject>>)[profile]);
  }
  if (names !== undefined) {
    delete part[NULL_IN_TONCENTER];
    if (profile === 'toncenter') makeNullable(part, names as readonly string[]);
  }
}

function makeNullable(object: JsonObject, names: readonly string[]): void {
  const properties = object.properties as JsonObject;
  for (const name of names) properties[name] = orNull(properties[name] as JsonObject);
  object.required = [...((object.required as string[] | undefined) ?? []), ...names];
}

function orNull(schema: JsonObject): JsonObject {
  if (typeof schema.type === 'string' && schema.enum === undefined) return { ...schema, type: [schema.type, 'null'] };
  const { description, ...rest } = schema;
  return { ...(description === undefined ? {} : { description }), anyOf: [rest, { type: 'null' }] };
}
