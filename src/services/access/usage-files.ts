import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isTernError } from '#kernel/errors/tern-error.js';
import type { Logger } from '#kernel/observe/logger.js';
import { JsonField } from '#services/access/json-field.js';
import { type LockModules, withLock } from '#services/access/lock-file.js';
import { NAME, NAME_IN_WORDS } from '#services/access/names.js';
import { addUsage, type UsageByKey, type UsageCounts, type UsageStore } from '#services/access/usage.js';
import { isSystemError, makeFolder, readWhole, replaceFile, withFile } from '#services/access/whole-file.js';

const FORMAT = 'tern-usage-1';

/** Usage in a folder, a JSON file for each day, written whole and under a lock among processes. */
export class UsageFiles implements UsageStore {
  readonly #folder: string;
  readonly #modules: LockModules & { readonly logger: Logger };

  constructor(options: { readonly folder: string }, modules: LockModules & { readonly logger: Logger }) {
    this.#folder = options.folder;
    this.#modules = modules;
  }

  /** A file that is damaged is put aside as `DAY.json.damaged`, and the log says so. @throws access/file, access/locked, access/lock-lost */
  async add(day: string, more: UsageByKey): Promise<UsageByKey> {
    return withFile(this.#folder, async () => {
      await makeFolder(this.#folder);
      return withLock(join(this.#folder, 'lock'), this.#modules, async (lock) => {
        const usage = addUsage(await this.#readOrPutAside(day), more);
        await replaceFile(this.#path(day), writeUsage(usage), () => lock.check());
        return usage;
      });
    });
  }

  /** @throws access/file, access/field */
  async read(day: string): Promise<UsageByKey> {
    const file = this.#path(day);
    return withFile(file, async () => {
      const text = await readWhole(file);
      return text === null ? new Map() : parseUsage(file, text);
    });
  }

  /** @throws access/file */
  async days(): Promise<readonly string[]> {
    return withFile(this.#folder, async () => {
      const names = await readdir(this.#folder).catch((error) => {
        if (isSystemError(error, 'ENOENT')) return [];
        throw error;
      });
      return names.flatMap((name) => /^(\d{4}-\d\d-\d\d)\.json$/.exec(name)?.[1] ?? []).sort();
    });
  }

  /** @throws access/file */
  async forgetBefore(day: string): Promise<void> {
    for (const each of await this.days()) {
      if (each < day) await withFile(this.#path(each), () => rm(this.#path(each), { force: true }));
    }
  }

  async #readOrPutAside(day: string): Promise<UsageByKey> {
    try {
      return await this.read(day);
    } catch (error) {
      if (!isTernError(error) || isSystemError(error.cause)) throw error;
      const aside = `${this.#path(day)}.damaged`;
      await rename(this.#path(day), aside);
      this.#modules.logger.warn('a file of usage was damaged; it is put aside and counting begins anew', {
        problem: error.message,
        aside,
      });
      return new Map();
    }
  }

  #path(day: string): string {
    return join(this.#folder, `${day}.json`);
  }
}

function parseUsage(file: string, text: string): UsageByKey {
  const { format, keys } = JsonField.parse(file, text).members('format', 'keys');
  if (format.value !== FORMAT) format.refuse(`"${FORMAT}"`);
  const usage = new Map<string, Map<string, UsageCounts>>();
  for (const [key, networks] of keys.entries()) {
    if (!NAME.test(key)) networks.refuse(`a key named by ${NAME_IN_WORDS}`);
    usage.set(key, new Map(networks.entries().map(([network, counts]) => [network, readCounts(counts)])));
  }
  return usage;
}

function readCounts(field: JsonField): UsageCounts {
  const fields = field.members('allowed', 'limited', 'last_used');
  return {
    allowed: fields.allowed.integer(0, Number.MAX_SAFE_INTEGER),
    limited: fields.limited.integer(0, Number.MAX_SAFE_INTEGER),
    last_used: fields.last_used.optional((text) => text.moment()),
  };
}

function writeUsage(usage: UsageByKey): string {
  const keys = Object.fromEntries([...usage].map(([key, networks]) => [key, Object.fromEntries(networks)]));
  return `${JSON.stringify({ format: FORMAT, keys }, null, 1)}\n`;
}
