import { v3Description } from '#api/v3/v3-api.js';
import { v2Description } from '#app/service/apis.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

interface Recording {
  readonly path: string;
  readonly status: number;
  readonly response: unknown;
}

/** What fits on a page; of a path with longer answers only, the shortest one is taken. */
const MOST_CHARACTERS = 4_000;

/** Recorded by other names than those of the document. */
const NAMES: Readonly<Record<string, string>> = { '/shards': '/getShards' };

/** The APIs whose reference pages show recorded answers. */
export const recordedApis = [v2Description, v3Description] as const;

/** The answers that the reference page of an API shows: of each path the recorded one with the most members that have a value. */
export function exampleAnswers({ prefix, endpoints }: (typeof recordedApis)[number]): string {
  const api = prefix.slice(prefix.lastIndexOf('/') + 1);
  const paths = new Set(endpoints.map(({ name }) => `/${name}`));
  const chosen = new Map<string, { readonly response: unknown; readonly members: number; readonly length: number }>();
  const text = Buffer.from(readBytes(vectorPath(`collection/recorded-net/${api}-recordings.jsonl.br`))).toString(
    'utf8',
  );
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const { path: recorded, status, response } = JSON.parse(line) as Recording;
    if (status !== 200 || typeof response !== 'object' || response === null) continue;
    const path = NAMES[recorded] ?? recorded;
    if (!paths.has(path)) continue;
    const { length } = JSON.stringify(response);
    const fits = length <= MOST_CHARACTERS;
    const members = fits ? membersOf(response, '', new Set()).size : 0;
    const name = `${prefix}${path}`;
    const best = chosen.get(name);
    if (best !== undefined && (members < best.members || (members === best.members && length >= best.length))) continue;
    chosen.set(name, { response, members, length });
  }
  const sorted = [...chosen].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, { response }]) => [name, response]);
  return `${JSON.stringify(Object.fromEntries(sorted), null, 1)}\n`;
}

/** Names of the members that have a value, elements of lists together. */
function membersOf(value: unknown, name: string, found: Set<string>): Set<string> {
  if (value === null || value === '') return found;
  found.add(name);
  if (Array.isArray(value)) for (const one of value) membersOf(one, `${name}[]`, found);
  else if (typeof value === 'object')
    for (const [key, one] of Object.entries(value)) membersOf(one, `${name}.${key.length > 40 ? '*' : key}`, found);
  return found;
}
