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

interface Described<Item> {
  readonly meaning: string;
  readonly placeholder: string;
  readonly accepted: string;
  readonly parse: (text: string) => Item | undefined;
}

/** A setting with one value, which has a default. */
export function one<Item>(described: Described<Item> & { readonly fallback: string }): Setting<Item> {
  const { fallback, ...rest } = described;
  const traits = { isList: false, isRequired: false, isSecret: false };
  return { ...rest, ...traits, fallback: [fallback], gather: ([value]) => value as Item };
}

/** A setting that may be left out, which is `null`. */
export function optional<Item>(described: Described<Item> & { readonly isSecret?: true }): Setting<Item | null> {
  const traits = { isList: false, isRequired: false, isSecret: false, fallback: [] };
  return { ...traits, ...described, gather: ([value]) => (value as Item | undefined) ?? null };
}

/** A setting that must be given. */
export function required<Item>(described: Described<Item>): Setting<Item> {
  const traits = { isList: false, isRequired: true, isSecret: false, fallback: [] };
  return { ...described, ...traits, gather: ([value]) => value as Item };
}

/** A setting that may be given several times. */
export function many<Item>(
  described: Described<Item> & {
    readonly fallback?: readonly string[];
    readonly isRequired?: true;
    readonly isSecret?: true;
  },
): Setting<readonly Item[]> {
  const traits = { isList: true, isRequired: false, isSecret: false, fallback: [] };
  return { ...traits, ...described, gather: (values) => values as readonly Item[] };
}

type Parsing<Item> = Pick<Described<Item>, 'placeholder' | 'accepted' | 'parse'>;

/** One of a few words. */
export function words<const Word extends string>(...all: readonly Word[]): Parsing<Word> {
  return {
    placeholder: all.join('|'),
    accepted: `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`,
    parse: (text) => all.find((word) => word === text),
  };
}

/** A whole number, in decimal. */
export function wholeNumber(placeholder: string, least: number, most: number): Parsing<number> {
  return {
    placeholder,
    accepted: `a whole number from ${least} to ${most}`,
    parse: (text) =>
      /^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined,
  };
}

/** A time in seconds, with a fraction if need be; as a value, milliseconds. */
export function seconds(least: number, most: number): Parsing<number> {
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
export function path(placeholder: 'DIR' | 'FILE'): Parsing<string> {
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
