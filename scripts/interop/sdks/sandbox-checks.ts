import type { CheckReport } from '../check-report.js';
import { expectSame } from '../same-answer.js';
import { type Loaded, type SdkStage, seededAddress } from './sdk-stage.js';

/** The remote storage of @ton/sandbox: its accounts are read through API v2 when they are first used. */
export async function checkSandbox(stage: SdkStage, report: CheckReport): Promise<void> {
  const check = (name: string, run: () => Promise<string>) => report.check(`@ton/sandbox: ${name}`, run);
  const { client, load, wallets, network } = stage;
  const { Address, beginCell, internal, SendMode, toNano } = load('@ton/core');
  const { mnemonicToPrivateKey } = load('@ton/crypto');
  const { WalletContractV3R2 } = load('@ton/ton');
  const { blockchain, seqno } = await remoteBlockchain(stage);

  await check('get-methods on remote accounts', async () => {
    const collection = Address.parse(seededAddress(stage, 'dns_collection'));
    const name = beginCell().storeBuffer(Buffer.from('example\0')).endCell();
    const args = [
      { type: 'slice', cell: name },
      { type: 'int', value: 0n },
    ];
    const there = await blockchain.runGetMethod(collection, 'dnsresolve', args);
    const here = await client.runMethod(collection, 'dnsresolve', args);
    expectSame(here.stack.readNumber(), Number(there.stackReader.readBigNumber()), 'bits that were resolved');
    const [remote, local] = [there.stackReader.readCell(), here.stack.readCell()];
    expectSame(local.hash().toString('hex'), remote.hash().toString('hex'), 'the record');
    const item = remote.beginParse().skip(16).loadAddress().toRawString().toUpperCase();
    expectSame(seededAddress(stage, 'dns_domain'), item, 'the domain that it names');
    return 'dnsresolve of .ton names the domain in both';
  });

  await check('a transfer that stays in the sandbox', async () => {
    const known = wallets.find(({ version, address }) => version === 'v3r2' && address.startsWith('0:'))!;
    const keys = await mnemonicToPrivateKey([...known.mnemonic!]);
    const contract = WalletContractV3R2.create({ workchain: 0, publicKey: keys.publicKey });
    const before = await client.getBalance(contract.address);
    expectSame(`${before}`, `${(await blockchain.getContract(contract.address)).balance}`, 'balance in the sandbox');
    const wallet = blockchain.openContract(contract);
    const own = Number(await wallet.getSeqno());
    const receiver = new Address(0, Buffer.alloc(32, 0x55));
    await wallet.sendTransfer({
      ...{ seqno: own, secretKey: keys.secretKey, sendMode: SendMode.PAY_GAS_SEPARATELY },
      messages: [internal({ to: receiver, value: toNano('1.5'), bounce: false })],
    });
    expectSame(own + 1, Number(await wallet.getSeqno()), 'seqno in the sandbox');
    expectSame(
      `${toNano('1.5')}`,
      `${(await blockchain.getContract(receiver)).balance}`,
      'what arrived in the sandbox',
    );
    expectSame(['0', `${before}`], await balances(client, [receiver, contract.address]), 'balances on the network');
    return `from block ${seqno}`;
  });

  await check('an older block', async () => {
    const { message_hash } = await network.control('faucet', { address: `0:${'56'.repeat(32)}`, amount: '7000000000' });
    const address = new Address(0, Buffer.alloc(32, 0x56));
    const after = await remoteBlockchain(stage);
    expectSame('0', `${(await blockchain.getContract(address)).balance}`, 'balance as of the older block');
    expectSame('7000000000', `${(await after.blockchain.getContract(address)).balance}`, 'balance as of the newer one');
    return `message ${message_hash}`;
  });
}

async function balances(client: Loaded, addresses: readonly Loaded[]): Promise<string[]> {
  return (await Promise.all(addresses.map((address) => client.getBalance(address)))).map(String);
}

/** A sandbox whose accounts are those of the network at its newest block. */
async function remoteBlockchain({ client, load, network }: SdkStage): Promise<{ blockchain: Loaded; seqno: number }> {
  const { Blockchain, RemoteBlockchainStorage } = load('@ton/sandbox');
  const { Cell } = load('@ton/core');
  const seqno = (await client.getMasterchainInfo()).latestSeqno as number;
  const now = (await network.status()).now as number;
  const storage = new RemoteBlockchainStorage(
    {
      getLastBlockSeqno: async () => seqno,
      getAccount: async (at: number, address: Loaded) => {
        const url = `${network.url}/api/v2/getAddressInformation?address=${address.toString()}&seqno=${at}`;
        const { result } = (await (await fetch(url)).json()) as Loaded;
        const cell = (text: string) => (text === '' ? undefined : Cell.fromBase64(text));
        const state =
          result.state === 'active'
            ? { type: 'active', state: { code: cell(result.code), data: cell(result.data) } }
            : { type: 'uninit' };
        const { lt, hash } = result.last_transaction_id;
        const last = lt === '0' ? {} : { lastTransaction: { lt: BigInt(lt), hash: Buffer.from(hash, 'base64') } };
        return { state, balance: BigInt(result.balance), ...last };
      },
    },
    seqno,
  );
  const blockchain = await Blockchain.create({ storage });
  blockchain.now = now;
  return { blockchain, seqno };
}
