/** How the queries of an API are written. */
export interface QueryGrammar {
  /** Whether `nameOf` gives lower case; then the names of parameters must be in lower case. */
  readonly foldsNames: boolean;
  /** The parameter that is meant by a name. */
  readonly nameOf: (given: string) => string;
  /** Undefined: neither true nor false. */
  readonly booleanOf: (text: string) => boolean | undefined;
  /** Most arguments of one query. */
  readonly maxArguments: number;
}

const WORDS = booleans(['y', 'yes', 't', 'true', 'on', '1'], ['n', 'no', 'f', 'false', 'off', '0']);

/** Names as they are; booleans as words in any letter case. */
export const exactGrammar: QueryGrammar = {
  foldsNames: false,
  nameOf: (given) => given,
  booleanOf: (text) => WORDS.get(text.toLowerCase()),
  maxArguments: 1_000,
};

const TOKENS = booleans(['1', 't', 'T', 'true', 'True', 'TRUE', 'on'], ['0', 'f', 'F', 'false', 'False', 'FALSE']);

/** Names in any letter case, with or without `[]` behind them. */
export const foldingGrammar: QueryGrammar = {
  foldsNames: true,
  nameOf: (given) => (given.endsWith('[]') ? given.slice(0, -2) : given).toLowerCase(),
  booleanOf: (text) => TOKENS.get(text),
  maxArguments: 2_000,
};

function booleans(yes: readonly string[], no: readonly string[]): ReadonlyMap<string, boolean> {
  return new Map([...yes.map((text) => [text, true] as const), ...no.map((text) => [text, false] as const)]);
}
