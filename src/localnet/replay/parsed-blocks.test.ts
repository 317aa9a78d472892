import { expect, it } from 'vitest';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { ParsedBlocks } from '#localnet/replay/parsed-blocks.js';

it('cells of files are kept within the limit, those asked for last', () => {
  const files = [1, 2, 3, 4].map((value) => serializeBoc(new Builder().storeUint(value, 32).endCell()));
  const parsed = new ParsedBlocks(files[0]!.length * 2);
  const [a, b, c, d] = files.map((file) => () => parsed.root(file));
  const rootA = a!();
  const rootB = b!();
  expect(a!()).toBe(rootA);
  c!();
  expect(a!()).toBe(rootA);
  expect(b!()).not.toBe(rootB);
  d!();
  expect(b!().hash()).toEqual(rootB.hash());
});

it('a file above the limit is kept until the next one', () => {
  const [large, small] = [900, 8].map((bits) => serializeBoc(new Builder().storeUint(1n, bits).endCell()));
  const parsed = new ParsedBlocks(20);
  const root = parsed.root(large!);
  expect(parsed.root(large!)).toBe(root);
  parsed.root(small!);
  expect(parsed.root(large!)).not.toBe(root);
});
