import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadAccounts } from '#app/config/index-settings.js';
import { Address } from '#formats/address/address.js';

const away = mkdtempSync(join(tmpdir(), 'tern-accounts-'));
afterAll(() => rmSync(away, { recursive: true }));

const file = (text: string): string => {
  const path = join(away, 'accounts.txt');
  writeFileSync(path, text);
  return path;
};
const [one, two] = [1, 2].map((byte) => Address.ofParts(0, new Uint8Array(32).fill(byte))) as [Address, Address];

describe('a list of accounts', () => {
  it('has addresses in any form, each once, and remarks', async () => {
    const friendly = one.toFriendly({ bounceable: false, testnet: false });
    const { accounts, jettons } = await loadAccounts(
      file(`# mine\r\n${one.toRaw()}\r\n\n  ${friendly} # again\n${two.toRaw()}`),
    );
    expect(accounts.map((address) => address.toRaw())).toEqual([one.toRaw(), two.toRaw()]);
    expect(jettons).toEqual([]);
  });

  it('has jetton masters', async () => {
    const found = await loadAccounts(file(`jetton ${two.toRaw()}\n${one.toRaw()}\njetton\t${two.toRaw()} # again`));
    expect(found.accounts.map((address) => address.toRaw())).toEqual([one.toRaw()]);
    expect(found.jettons.map((address) => address.toRaw())).toEqual([two.toRaw()]);
  });

  it.each([
    ['a line that is no address', `${one.toRaw()}\nEQ\n`, /^the account list \S+ cannot be used: line 2: /],
    ['a jetton without an address', `${one.toRaw()}\njetton\n`, /: line 2: /],
    ['no account', `jetton ${one.toRaw()}\n`, /: it contains no address of an account$/],
    ['no address', '# none\n', /: it contains no address of an account$/],
  ])('is refused for %s', async (_, text, message) => {
    await expect(loadAccounts(file(text))).rejects.toMatchObject({
      code: 'config/account-list',
      message: expect.stringMatching(message),
    });
  });

  it('is refused when it is not there', async () => {
    await expect(loadAccounts(join(away, 'none'))).rejects.toMatchObject({
      message: expect.stringMatching(/the file does not exist$/),
    });
  });
});
