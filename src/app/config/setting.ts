import { configErrors } from '#app/config/errors.js';

/** One setting: how it is given, what it accepts, what it does. Its name is that of the table it stands in. */
export interface Setting<Value> {
  /** Completes "what it does": one or two sentences for the help and the documentation. */
  readonly meaning: string;
  /** What stands for the value in the help: `HOST:PORT`. */
  readonly placeholder: string;
  /** What may be given, in words: completes "accepted is …". */
  readonly accepted: string;
  /** What it is when nobody says anything; `[]` for nothing. */
  readonly fallback: readonly string[];
  /** May be given several times; as an environment variable, with commas between. */
  readonly isList: boolean;
  readonly isRequired: boolean;
  /** Its value is never shown. */
  readonly isSecret: boolean;
  /** One text as a value; `undefined` for what is not accepted. */
  readonly parse: (text: string) => unknown;
  /** The value of all texts, parsed. */
  readonly gather: (parsed: readonly unknown[]) => Value;
}

// biome-ignore lint/suspicious/noExplicitAny: settings of all types stand in one table
export type SettingTable = Readonly<Record<string, Setting<any>>>;

/** The values of a table, by name. */
export type SettingValues<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Setting<infer Value> ? Value : never;
};

interface SettingDescription<Item> {
  readonly meaning: string;
  readonly placeholder: string;
  readonly accepted: string;
  readonly parse: (text: string) => Item | undefined;
}

/** A setting with one value, which has a default. */
export function singleSetting<Item>(
  described: SettingDescription<Item> & { readonly fallback: string },
): Setting<Item> {
  const { fallback, ...rest } = described;
  const traits = { isList: false, isRequired: false, isSecret: false };
  return { ...rest, ...traits, fallback: [fallback], gather: ([value]) => value as Item };
}

/** A setting that may be left out, which is `null`. */
export function optionalSetting<Item>(
  described: SettingDescription<Item> & { readonly isSecret?: true },
): Setting<Item | null> {
  const traits = { isList: false, isRequired: false, isSecret: false, fallback: [] };
  return { ...traits, ...described, gather: ([value]) => (value as Item | undefined) ?? null };
}

/** A setting that must be given. */
export function requiredSetting<Item>(described: SettingDescription<Item>): Setting<Item> {
  const traits = { isList: false, isRequired: true, isSecret: false, fallback: [] };
  return { ...described, ...traits, gather: ([value]) => value as Item };
}

/** A setting that may be given several times. */
export function listSetting<Item>(
  described: SettingDescription<Item> & {
    readonly fallback?: readonly string[];
    readonly isRequired?: true;
    readonly isSecret?: true;
  },
): Setting<readonly Item[]> {
  const traits = { isList: true, isRequired: false, isSecret: false, fallback: [] };
  return { ...traits, ...described, gather: (values) => values as readonly Item[] };
}

type ValueParser<Item> = Pick<SettingDescription<Item>, 'placeholder' | 'accepted' | 'parse'>;

/** One of a few words. */
export function keywordValue<const Word extends string>(...all: readonly Word[]): ValueParser<Word> {
  return {
    placeholder: all.join('|'),
    accepted: `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`,
    parse: (text) => all.find((word) => word === text),
  };
}

/** A whole number, in decimal. */
export function integerValue(placeholder: string, least: number, most: number): ValueParser<number> {
  return {
    placeholder,
    accepted: `a whole number from ${least} to ${most}`,
    parse: (text) =>
      /^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined,
  };
}

/** A time in seconds, with a fraction if need be; as a value, milliseconds. */
export function secondsValue(least: number, most: number): ValueParser<number> {
  return {
    placeholder: 'SECONDS',
    accepted: `a number of seconds from ${least} to ${most}`,
    parse: (text) => {
      const value = /^\d{1,9}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
      return value >= least && value <= most ? Math.round(value * 1000) : undefined;
    },
  };
}

/** A folder or file. */
export function pathValue(placeholder: 'DIR' | 'FILE'): ValueParser<string> {
  return {
    placeholder,
    accepted: placeholder === 'DIR' ? 'the path of a folder' : 'the path of a file',
    parse: (text) => (text.includes('\0') ? undefined : text),
  };
}

/** `getMethods` as a flag: `--get-methods`. */
export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** `getMethods` as an environment variable: `TERN_GET_METHODS`. */
export function variableOf(name: string): string {
  return `TERN_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

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
