import { configErrors } from '#app/config/errors.js';
import { flagOf, type SettingTable, type SettingValues, variableOf } from '#app/config/setting.js';

/** Where a value comes from. A flag goes before the environment, this before the default. */
export type SettingOrigin = 'flag' | 'environment' | 'default';

/** What was said about settings. */
export interface GivenSettings {
  /** By name as in the table; lists for settings that may be given several times. */
  readonly flags: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** A setting as it stands: for `tern config --print`. */
export interface SettingText {
  readonly name: string;
  readonly origin: SettingOrigin;
  /** Empty when it is not set. */
  readonly texts: readonly string[];
}

export interface ReadSettings<Table> {
  readonly values: SettingValues<Table>;
  readonly texts: readonly SettingText[];
}

/**
 * Finds out the value of every setting of a table.
 * @throws config/bad-setting, config/missing-setting
 */
export function readSettings<Table extends SettingTable>(table: Table, given: GivenSettings): ReadSettings<Table> {
  const values: Record<string, unknown> = {};
  const all: SettingText[] = [];
  for (const [name, setting] of Object.entries(table)) {
    const { origin, texts } = textsOf(name, setting.isList, setting.fallback, given);
    const source = origin === 'environment' ? variableOf(name) : flagOf(name);
    if (texts.length === 0 && setting.isRequired) {
      const data = { setting: flagOf(name), variable: variableOf(name), meaning: setting.meaning };
      throw configErrors['missing-setting'](data);
    }
    const parsed = texts.map((text) => {
      const value = text === '' ? undefined : setting.parse(text);
      if (value !== undefined) return value;
      const found = setting.isSecret ? 'something else' : `"${text}"`;
      throw configErrors['bad-setting']({ setting: source, found, accepted: setting.accepted });
    });
    values[name] = setting.gather(parsed);
    all.push({ name, origin, texts });
  }
  return { values: values as SettingValues<Table>, texts: all };
}

function textsOf(
  name: string,
  isList: boolean,
  fallback: readonly string[],
  { flags, environment }: GivenSettings,
): Omit<SettingText, 'name'> {
  const flag = flags[name];
  if (flag !== undefined) return { origin: 'flag', texts: typeof flag === 'string' ? [flag] : flag };
  const variable = environment[variableOf(name)];
  // Compose files pass variables that are not set as empty ones.
  if (variable === undefined || variable.trim() === '') return { origin: 'default', texts: fallback };
  const texts = isList ? variable.split(',').map((part) => part.trim()) : [variable.trim()];
  return { origin: 'environment', texts: isList ? texts.filter((text) => text !== '') : texts };
}

/** Variables that begin as those of Tern but are none of a table's: typing errors, most likely. */
export function unknownVariables(
  table: SettingTable,
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  const known = new Set(Object.keys(table).map(variableOf));
  return Object.keys(environment)
    .filter((name) => name.startsWith('TERN_') && !known.has(name))
    .sort();
}
