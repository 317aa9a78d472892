import type { IncomingHttpHeaders } from 'node:http';
import { httpErrors } from '#api/http/errors.js';
import type { Profile } from '#api/http/http-api.js';

/** Prefix of all paths whose profile is `toncenter`. */
export const TONCENTER_MOUNT = '/toncenter';

/**
 * The profile of a request: that of its path, else of `X-Tern-Profile`, else `toncenter` for clients that send
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

/** Renames the types in the JSON text of a result. */
export type RenameTypes = (json: string) => string;

/**
 * Renames values of `@type` by a table. Quotes within texts are escaped in JSON, so what is matched, a bare quote after
 * `{` or `,`, is a key and never a part of a text.
 */
export function typeRenamer(names: Readonly<Record<string, string>>): RenameTypes {
  const table = new Map(Object.entries(names).filter(([from, to]) => from !== to));
  if (table.size === 0) return (json) => json;
  const alternatives = [...table.keys()].map((name) => name.replace(/[^A-Za-z0-9]/g, '\\$&')).join('|');
  const pattern = new RegExp(`(?<=[{,]"@type":")(?:${alternatives})(?=")`, 'g');
  return (json) => json.replace(pattern, (name) => table.get(name) as string);
}
