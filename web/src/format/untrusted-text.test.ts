import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shownJson, shownLine, shownText, symbolWarning } from './untrusted-text.js';

describe('a text of somebody else', () => {
  it.each([
    ['hello', 'hello', 0, false],
    ['a\u202egnp.exe', 'a\ufffdgnp.exe', 0, true],
    ['\u2066x\u2069', '\ufffdx\ufffd', 0, true],
    ['zero\u200bwidth', 'zero\ufffdwidth', 0, true],
    ['nul\u0000', 'nul\ufffd', 0, true],
    [`a${'\u0301'.repeat(50)}`, `a${'\u0301'.repeat(3)}`, 0, true],
    ['<script>alert(1)</script>', '<script>alert(1)</script>', 0, false],
    ['日本語 العربية', '日本語 العربية', 0, false],
  ])('%j is shown as %j', (text, shown, cut, isChanged) => {
    expect(shownText(text)).toEqual({ text: shown, cut, isChanged });
  });

  it('is cut, with how much is left', () => {
    expect(shownText('x'.repeat(100_000), 100)).toEqual({ text: 'x'.repeat(100), cut: 99_900, isChanged: false });
    expect(shownLine('a\nb\tc', 80).text).toBe('a b c');
    expect(shownText('😀'.repeat(10), 4).text).toBe('😀😀😀😀');
  });

  it('is the same JSON without anything that cannot be seen', () => {
    const value = { name: 'a\u202egnp.exe \u200b', more: ['\u{e0041}', '\ufeff'] };
    const json = shownJson(JSON.stringify(value));
    expect(json).not.toMatch(/[^\u0020-\u007e]/);
    expect(JSON.parse(json)).toEqual(value);
  });

  it('never shows a control of direction, and never more than was asked for', () => {
    fc.assert(
      fc.property(
        fc
          .array(fc.integer({ min: 0, max: 0x1ffff }), { maxLength: 300 })
          .map((codes) => codes.map((code) => String.fromCodePoint(code)).join('')),
        fc.integer({ min: 1, max: 100 }),
        (text, most) => {
          const { text: shown } = shownText(text, most);
          expect([...shown].length).toBeLessThanOrEqual(most);
          expect(shown).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b-\u200f]/);
        },
      ),
      { seed: 22 },
    );
  });
});

describe('the symbol of a token', () => {
  it.each([
    ['JET', null],
    ['ЖЕТ', null],
    ['USD₮', 'looks like USDT'],
    ['USDT', 'calls itself USDT'],
    ['USDТ', 'looks like USDT'],
    ['T0N', 'looks like TON'],
    ['TОN', 'looks like TON'],
    ['Ｔ Ｏ Ｎ', 'looks like TON'],
    ['TÖN', 'looks like TON'],
    ['TO\u200bN', 'contains characters that cannot be seen'],
    ['DОGЕ2', 'mixes letters of several scripts'],
    ['ꓴꓢꓓꓔ', 'looks like USDT'],
    ['ՍSDᎢ', 'looks like USDT'],
    ['ᴜꜱᴅᴛ', 'looks like USDT'],
    ['𝗨𝗦𝗗𝗧', 'looks like USDT'],
    ['Tether USD', 'looks like TETHERUSD'],
    ['ØNE', null],
    ['日本 coin', null],
  ])('%s: %s', (symbol, warning) => {
    expect(symbolWarning(symbol)).toBe(warning);
  });
});
