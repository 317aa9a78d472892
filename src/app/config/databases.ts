import { configErrors } from '#app/config/errors.js';
import type { DatabaseArgument, IndexRole } from '#app/config/index-settings.js';

/** The database of a network. */
export interface NetworkDatabase {
  readonly url: string;
  /** Of a replica; `null` to read where is written. */
  readonly readUrl: string | null;
}

/** What settings say about databases. */
export interface DatabaseArguments {
  readonly databaseUrl: readonly DatabaseArgument[];
  readonly databaseReadUrl: readonly DatabaseArgument[];
  readonly role: IndexRole;
}

/**
 * Which database is of which network: each has one of its own, or none. A URL without a name is for the only network.
 *
 * @param networks names
 * @throws config/setting-conflict
 */
export function assignDatabases(
  networks: readonly string[],
  { databaseUrl, databaseReadUrl, role }: DatabaseArguments,
): ReadonlyMap<string, NetworkDatabase> {
  const urls = byNetwork('--database-url', networks, databaseUrl);
  const readUrls = byNetwork('--database-read-url', networks, databaseReadUrl);
  for (const name of readUrls.keys()) {
    if (!urls.has(name)) throw conflict(`--database-read-url is for ${name}, which has no --database-url`);
  }
  const [bare] = role === 'all' ? [] : networks.filter((name) => !urls.has(name));
  if (bare !== undefined) throw conflict(`--role ${role} needs a database, and ${bare} has no --database-url`);
  return new Map([...urls].map(([name, url]) => [name, { url, readUrl: readUrls.get(name) ?? null }]));
}

function byNetwork(
  flag: string,
  networks: readonly string[],
  databases: readonly DatabaseArgument[],
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { network, url } of databases) {
    const [only, ...others] = networks;
    const name = network ?? only!;
    if (network === null && others.length > 0) {
      throw conflict(`${flag} does not say for which network: each of ${networks.join(', ')} needs its own (NAME=URL)`);
    }
    if (!networks.includes(name))
      throw conflict(`${flag} names the network "${name}"; there is ${networks.join(', ')}`);
    if (found.has(name)) throw conflict(`${flag} gives ${name} two databases`);
    // The texts are secrets and are not quoted.
    const twin = [...found].find(([, other]) => other === url);
    if (twin !== undefined) throw conflict(`${flag} gives ${twin[0]} and ${name} one database; each needs its own`);
    found.set(name, url);
  }
  return found;
}

function conflict(problem: string) {
  return configErrors['setting-conflict']({ problem });
}
