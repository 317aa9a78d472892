import { describe, expect, it } from 'vitest';
import { embeddedImage } from './token-image.js';

const base64 = (bytes: readonly number[]) => Buffer.from(bytes).toString('base64');
const uint32 = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff);
const uint16 = (value: number) => [value >> 8, value & 0xff];
const uint16le = (value: number) => [value & 0xff, value >> 8];
const zeros = (count: number) => new Array<number>(count).fill(0);
const text = (value: string) => [...Buffer.from(value)];

const png = (side: number) =>
  base64([
    ...[0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10],
    ...uint32(13),
    ...text('IHDR'),
    ...uint32(side),
    ...uint32(8),
    ...zeros(9),
  ]);
const gif = (side: number) => base64([...text('GIF89a'), ...uint16le(side), ...uint16le(8), ...zeros(24)]);
const jpeg = (side: number) =>
  base64([
    ...[0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2],
    ...[0xff, 0xc2, 0, 17, 8, ...uint16(8), ...uint16(side), ...zeros(20)],
  ]);
const webp = (side: number) =>
  base64([...text('RIFF'), ...zeros(4), ...text('WEBPVP8 '), ...zeros(10), ...uint16le(side), ...uint16le(8), 0, 0]);
const webpCanvas = (side: number) =>
  base64([...text('RIFF'), ...zeros(4), ...text('WEBPVP8X'), ...zeros(8), ...uint16le(side - 1), 0, 7, 0, 0, 0, 0]);

describe('a picture in metadata', () => {
  it.each([
    ['png', png],
    ['gif', gif],
    ['jpeg', jpeg],
    ['webp', webp],
    ['webp', webpCanvas],
  ] as const)('in %s is drawn by its size', (kind, make) => {
    const address = (side: number) => `data:image/${kind};base64,${make(side)}`;
    expect(embeddedImage(address(2_048), null)).toBe(address(2_048));
    for (const side of [0, 2_049, 16_000]) expect(embeddedImage(address(side), null), `${side}`).toBe(null);
  });

  it('may be bytes without an address', () => {
    expect(embeddedImage('https://a.test/x.png', png(64))).toBe(`data:image/png;base64,${png(64)}`);
    expect(embeddedImage(null, jpeg(9))).toBe(`data:image/jpeg;base64,${jpeg(9)}`);
    expect(embeddedImage(png(64), null), 'as an address it is none').toBe(null);
  });

  it.each([
    ['a path', '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h9"/></svg>', true],
    ['a handler', '<svg xmlns="http://www.w3.org/2000/svg" onload="x()"><path d="M0 0h9"/></svg>', true],
    ['a script', '<svg><script>x()</script></svg>', false],
    ['a copy', '<svg><g id="a"/><use href="#a"/></svg>', false],
    ['a copy with a prefix', '<svg xmlns:s="x"><s:use href="#a"/></svg>', false],
    ['an entity', '<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>', false],
    ['a filter', '<svg><filter id="f"/></svg>', false],
    ['a foreign object', '<svg><foreignObject/></svg>', false],
    ['too much', `<svg>${'<path d="M0 0"/>'.repeat(4_000)}</svg>`, false],
  ])('as SVG with %s', (_, svg, isDrawn) => {
    const inBase64 = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
    expect(embeddedImage(`data:image/svg+xml,${encodeURIComponent(svg)}`, null) !== null).toBe(isDrawn);
    expect(embeddedImage(inBase64, null) !== null).toBe(isDrawn);
  });

  it.each([
    ['on another host', 'https://elsewhere.test/a.png'],
    ['a script', 'javascript:alert(1)'],
    ['a page', 'data:text/html,<script>x()</script>'],
    ['cut short', 'data:image/png;base64,AAAA'],
    ['too long', `data:image/png;base64,${png(8)}${'A'.repeat(400_000)}`],
    ['written wrong', 'data:image/svg+xml,%'],
    ['of another kind', `data:image/gif;base64,${png(8)}`],
    ['empty', ''],
    ['a number', 17],
  ])('is none: %s', (_, image) => {
    expect(embeddedImage(image, null)).toBe(null);
  });
});
