import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { configErrors } from '#app/config/errors.js';
import { isNetworkName } from '#app/config/listeners.js';
import type { NetworkArgument } from '#app/config/settings.js';
import { type GlobalConfig, parseGlobalConfig } from '#drivers/lite/global-config.js';
import { bytesEqual } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';

/** A network with its global config. */
export interface NamedNetwork {
  readonly name: string;
  /** File or URL of the global config, for errors and the log. */
  readonly source: string;
  readonly config: GlobalConfig;
}

/** A private group of liteservers. */
export interface NamedGroup {
  readonly group: string;
  readonly source: string;
  readonly config: GlobalConfig;
}

/** Dependencies for loading global configs. */
export interface ConfigModules {
  /** Downloads the text at a URL; throws config/network-list. */
  readonly download: (url: string) => Promise<string>;
}

/** Built-in networks; other configs are matched to them by zerostate. */
const BUILT_IN = ['mainnet', 'testnet'] as const;

const builtInFile = (name: string): URL => new URL(`../../../data/networks/${name}.json`, import.meta.url);

/**
 * Loads the global configs of networks and determines their names.
 * @throws config/network-list, config/setting-conflict, lite/bad-config
 */
export async function loadNetworks(
  networks: readonly NetworkArgument[],
  modules: ConfigModules,
): Promise<readonly NamedNetwork[]> {
  const loaded: NamedNetwork[] = [];
  for (const { name, source } of networks) {
    const config = await loadConfig(source, modules);
    const network = { name: name ?? (await nameOf(source, config)), source, config };
    const twin = loaded.find((other) => other.name === network.name);
    if (twin !== undefined) {
      const problem = `${twin.source} and ${source} both have the name "${network.name}"; rename one with NAME=${source}`;
      throw configErrors['setting-conflict']({ problem });
    }
    loaded.push(network);
  }
  return loaded;
}

/** Loads the global configs of private groups. @throws as {@link loadNetworks} */
export async function loadGroups(
  groups: readonly { readonly group: string; readonly source: string }[],
  modules: ConfigModules,
): Promise<readonly NamedGroup[]> {
  const loaded: NamedGroup[] = [];
  for (const { group, source } of groups) loaded.push({ group, source, config: await loadConfig(source, modules) });
  return loaded;
}

/** Whether two configs have the same zerostate. */
export function isSameNetwork(a: GlobalConfig, b: GlobalConfig): boolean {
  return (
    bytesEqual(a.zeroState.root_hash, b.zeroState.root_hash) && bytesEqual(a.zeroState.file_hash, b.zeroState.file_hash)
  );
}

/** Whether a config belongs to the testnet, by zerostate. */
export async function isTestnet(config: GlobalConfig): Promise<boolean> {
  return isSameNetwork(config, parseGlobalConfig(await readFile(builtInFile('testnet'), 'utf8'), 'testnet'));
}

/** How old the newest block of a public network may be by default: they make one every few seconds at the slowest. */
const PUBLIC_HEAD_AGE_MS = 60_000;

/** The default of `--max-head-age` in milliseconds: for mainnet and testnet, by zerostate, but not for forks of them; 0 for any age. */
export async function usualHeadAgeMs(config: GlobalConfig): Promise<number> {
  if (config.incarnation !== null) return 0;
  for (const name of BUILT_IN) {
    const known = parseGlobalConfig(await readFile(builtInFile(name), 'utf8'), name);
    if (isSameNetwork(known, config)) return PUBLIC_HEAD_AGE_MS;
  }
  return 0;
}

/** Loads a global config from a file or a URL, or a built-in one. @throws as {@link loadNetworks} */
export async function loadConfig(source: string, { download }: ConfigModules): Promise<GlobalConfig> {
  const isBuiltIn = (BUILT_IN as readonly string[]).includes(source);
  let text: string;
  try {
    if (/^https?:\/\//.test(source)) text = await download(source);
    else text = await readFile(isBuiltIn ? builtInFile(source) : source, 'utf8');
  } catch (error) {
    if (isTernError(error)) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const problem = code === 'ENOENT' ? 'the file does not exist' : message;
    throw configErrors['network-list']({ source, problem }, error);
  }
  return parseGlobalConfig(text, source);
}

/** `mainnet` or `testnet` by zerostate, otherwise the file name up to the first dot. */
async function nameOf(source: string, config: GlobalConfig): Promise<string> {
  for (const name of BUILT_IN) {
    const known = parseGlobalConfig(await readFile(builtInFile(name), 'utf8'), name);
    if (isSameNetwork(known, config)) return name;
  }
  const stem = basename(source.replace(/[?#].*$/, ''))
    .replace(/\..*$/, '')
    .toLowerCase();
  return isNetworkName(stem) ? stem : 'network';
}

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 4 * 1024 * 1024;

/** Downloads the text at a URL. @throws config/network-list */
export async function download(url: string): Promise<string> {
  const refuse = (problem: string, cause?: unknown) => configErrors['network-list']({ source: url, problem }, cause);
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'follow' });
    if (!response.ok) throw refuse(`the server responds ${response.status}`);
    const bytes: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > MAX_BYTES) throw refuse(`it is larger than ${MAX_BYTES} bytes`);
      bytes.push(chunk);
    }
    return Buffer.concat(bytes).toString('utf8');
  } catch (error) {
    if (isTernError(error)) throw error;
    const { name, message, cause } = error as Error;
    if (name === 'TimeoutError') throw refuse(`no answer within ${TIMEOUT_MS / 1000} s`, error);
    // The message `fetch failed` is not informative; its cause is.
    throw refuse(cause instanceof Error && cause.message !== '' ? cause.message : message, error);
  }
}
