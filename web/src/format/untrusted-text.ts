/**
 * Texts that somebody else chose: comments, names, descriptions, domains. They are shown as text only; what could make them look
 * like something else, or leave their place, is taken out of them here.
 */

/** Controls, and characters that change the direction or cannot be seen: bidi controls, joiners, tags, fillers. */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]|\u034f|\u17b4|\u17b5|[\u180b-\u180d]|\u180f|[\ufe00-\ufe0f]|[\u{e0000}-\u{e0fff}]/gu;

/** More marks on one letter than any language writes. */
const PILED_MARKS = /(\p{M}{3})\p{M}+/gu;

/** A text that can be shown. */
export interface ShownText {
  readonly text: string;
  /** Characters that were left out at the end. */
  readonly cut: number;
  /** Whether something was removed or replaced in it. */
  readonly isChanged: boolean;
}

/** Removes what is unseen, and all after `most` characters. */
export function shownText(text: string, most = 240): ShownText {
  // Enough of it: what is unseen may take most of a text.
  const begin = text.slice(0, most * 4 + 64);
  const seen = begin.replaceAll(UNSEEN, '\ufffd').replaceAll(PILED_MARKS, '$1');
  const characters = [...seen];
  const shown = characters.slice(0, most).join('');
  const cut =
    characters.length > most || text.length > begin.length ? text.length - Math.min(shown.length, text.length) : 0;
  return { text: shown, cut, isChanged: seen !== begin };
}

/** JSON in which what is unseen stands as an escape, which means the same to a parser. */
export function shownJson(json: string): string {
  return json.replaceAll(UNSEEN, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** On one line: line ends are blanks. */
export function shownLine(text: string, most = 80): ShownText {
  const shown = shownText(text, most);
  return { ...shown, text: shown.text.replaceAll(/\s+/g, ' ').trim() };
}

/** Letters of other scripts that look like Latin ones, and digits that look like letters. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  А: 'A',
  В: 'B',
  Е: 'E',
  З: '3',
  К: 'K',
  М: 'M',
  Н: 'H',
  О: 'O',
  Р: 'P',
  С: 'C',
  Т: 'T',
  У: 'Y',
  Х: 'X',
  Ѕ: 'S',
  І: 'I',
  Ј: 'J',
  Α: 'A',
  Β: 'B',
  Ε: 'E',
  Ζ: 'Z',
  Η: 'H',
  Ι: 'I',
  Κ: 'K',
  Μ: 'M',
  Ν: 'N',
  Ο: 'O',
  Ρ: 'P',
  Τ: 'T',
  Υ: 'Y',
  Χ: 'X',
  Տ: 'S',
  Օ: 'O',
  Ս: 'U',
  Ꭲ: 'T',
  Ꭰ: 'D',
  Ꮪ: 'S',
  Ꮯ: 'C',
  Ꮋ: 'H',
  Ᏼ: 'B',
  Ꭼ: 'E',
  Ⲟ: 'O',
  Ⲛ: 'N',
  Ⲧ: 'T',
  Ⲥ: 'C',
  ꓓ: 'D',
  ꓔ: 'T',
  ꓢ: 'S',
  ꓴ: 'U',
  ꓳ: 'O',
  ꓠ: 'N',
  ꓚ: 'C',
  ꓐ: 'B',
  ꓰ: 'E',
  ꓧ: 'H',
  ᴅ: 'D',
  ᴛ: 'T',
  ᴜ: 'U',
  ᴏ: 'O',
  ꜱ: 'S',
  ɴ: 'N',
  ᴄ: 'C',
  ʙ: 'B',
  ᴇ: 'E',
  ʜ: 'H',
  Ð: 'D',
  Ø: 'O',
  Ŧ: 'T',
  '₮': 'T',
  '0': 'O',
  '1': 'I',
  '5': 'S',
  '|': 'I',
  '!': 'I',
  $: 'S',
};

/** Symbols and names that a token of any address may not look like: the coin itself, and what it is most often taken for. */
const GUARDED = [
  'TON',
  'TONCOIN',
  'GRAM',
  'USDT',
  'USDTON',
  'USDC',
  'NOT',
  'STTON',
  'TSTON',
  'BTC',
  'TGBTC',
  'ETH',
  'XAUT',
  'TETHER',
  'TETHERUSD',
  'USDCOIN',
  'NOTCOIN',
  'BITCOIN',
  'TONSTAKERS',
];

/** What a symbol looks like: compatibility forms and accents resolved, letters of other scripts as Latin ones, in capitals. */
function skeleton(symbol: string): string {
  const plain = symbol.normalize('NFKD').replaceAll(/\p{M}/gu, '').replaceAll(UNSEEN, '').toUpperCase();
  return [...plain]
    .map((character) => LOOKALIKES[character] ?? character)
    .join('')
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Why the symbol of a token deserves distrust; null: nothing but that anybody can choose it. */
export function symbolWarning(symbol: string): string | null {
  if (shownText(symbol).isChanged) return 'contains characters that cannot be seen';
  const looks = skeleton(symbol);
  const guarded = GUARDED.find((each) => skeleton(each) === looks);
  if (guarded !== undefined) return guarded === symbol ? `calls itself ${guarded}` : `looks like ${guarded}`;
  const scripts = SCRIPTS.filter((script) => script.test(symbol)).length;
  return scripts > 1 ? 'mixes letters of several scripts' : null;
}

const SCRIPTS = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Cherokee}/u,
  /\p{Script=Coptic}/u,
  /\p{Script=Lisu}/u,
];
