import { configErrors } from '#app/config/errors.js';

/** A setting: description, accepted values, default. Its name is its key in the table. */
export interface Setting<Value> {
  /** Description for the help and the documentation. */
  readonly meaning: string;
  /** Placeholder of the value in the help: `HOST:PORT`. */
  readonly placeholder: string;
  /** Accepted values in words. */
  readonly accepted: string;
  /** Default; `[]` for none. */
  readonly fallback: readonly string[];
  /** Repeatable; comma-separated as an environment variable. */
  readonly isList: boolean;
  readonly isRequired: boolean;
  /** The value is never shown. */
  readonly isSecret: boolean;
  /** Parses one string; `undefined` when invalid. */
  readonly parse: (text: string) => unknown;
  /** Combines the parsed values. */
  readonly gather: (parsed: readonly unknown[]) => Value;
}

// biome-ignore lint/suspicious/noExplicitAny: a table contains settings of all types
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

/** A setting with one value and a default. */
export function singleSetting<Item>(
  described: SettingDescription<Item> & { readonly fallback: string },
): Setting<Item> {
  const { fallback, ...rest } = described;
  const traits = { isList: false, isRequired: false, isSecret: false };
  return { ...rest, ...traits, fallback: [fallback], gather: ([value]) => value as Item };
}

/** An optional setting; `null` when not set. */
export function optionalSetting<Item>(
  described: SettingDescription<Item> & { readonly isSecret?: true },
): Setting<Item | null> {
  const traits = { isList: false, isRequired: false, isSecret: false, fallback: [] };
  return { ...traits, ...described, gather: ([value]) => (value as Item | undefined) ?? null };
}

/** A required setting. */
export function requiredSetting<Item>(described: SettingDescription<Item>): Setting<Item> {
  const traits = { isList: false, isRequired: true, isSecret: false, fallback: [] };
  return { ...described, ...traits, gather: ([value]) => value as Item };
}

/** A repeatable setting. */
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

/** One of several keywords. */
export function keywordValue<const Word extends string>(...all: readonly Word[]): ValueParser<Word> {
  return {
    placeholder: all.join('|'),
    accepted: `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`,
    parse: (text) => all.find((word) => word === text),
  };
}

/** A decimal integer. */
export function integerValue(placeholder: string, least: number, most: number): ValueParser<number> {
  return {
    placeholder,
    accepted: `a whole number from ${least} to ${most}`,
    parse: (text) =>
      /^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined,
  };
}

/** A time in seconds with optional fraction; the value is in milliseconds. */
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

/** A path of a folder or file. */
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

/** Origin of a value. A flag overrides the environment, which overrides the default. */
type SettingOrigin = 'flag' | 'environment' | 'default';

/** Given flags and environment variables. */
export interface GivenSettings {
  /** By setting name; lists for repeatable settings. */
  readonly flags: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** A resulting setting, for `tern config --print`. */
export interface SettingText {
  readonly name: string;
  readonly origin: SettingOrigin;
  /** Empty when not set. */
  readonly texts: readonly string[];
}

export interface ReadSettings<Table> {
  readonly values: SettingValues<Table>;
  readonly texts: readonly SettingText[];
}

/**
 * Determines the value of every setting of a table.
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
      const found = setting.isSecret ? 'invalid' : `"${text}"`;
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
  // Docker Compose passes unset variables as empty strings.
  if (variable === undefined || variable.trim() === '') return { origin: 'default', texts: fallback };
  const texts = isList ? variable.split(',').map((part) => part.trim()) : [variable.trim()];
  return { origin: 'environment', texts: isList ? texts.filter((text) => text !== '') : texts };
}

/** Variables with the prefix TERN_ that are not in a table, which are probably typos. */
export function unknownVariables(
  table: SettingTable,
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  const known = new Set(Object.keys(table).map(variableOf));
  return Object.keys(environment)
    .filter((name) => name.startsWith('TERN_') && !known.has(name))
    .sort();
}
