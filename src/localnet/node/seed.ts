import type { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import type { AccountStorage } from '#formats/tlb/account.js';
import { MASTERCHAIN } from '#formats/tlb/block-id.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { layout } from '#formats/tlb/codec/layout.js';
import { configParam, encodeConfigParam } from '#formats/tlb/config/config-params.js';
import { ExtraCurrencyCollection } from '#formats/tlb/currency.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import type { ChainTip } from '#localnet/ledger/block-bundle.js';
import { localnetErrors } from '#localnet/node/errors.js';
import { accountIn } from '#localnet/node/external-messages.js';
import type { Faucet } from '#localnet/node/faucet.js';
import type { Seeded, SeededItem } from '#localnet/node/local-node.js';
import {
  deployMessage,
  dnsBid,
  dnsCollection,
  domainItem,
  libraryPublisher,
  MULTISIG_THRESHOLD,
  newOrder,
  orderLibrary,
  ownedDomainData,
  rootResolver,
  seedMultisig,
  seedOrder,
} from '#localnet/node/seed-contracts.js';
import type { AccountOverride, PendingExternalIn } from '#localnet/producer/block-request.js';
import { buildInternalMessage, createTransfer } from '#localnet/wallets/create-transfer.js';
import type { FundedWallet } from '#localnet/wallets/wallet-contract.js';

const COIN = 1_000_000_000n;
const DNS_ROOT_PARAM = 4;
/** The label of the domain. */
const LABEL = 'example';
/** The extra currency of mainnet that a local network mints in its first block, and how much of it is sent. */
const CURRENCY = 239;
const CURRENCY_AMOUNT = 1_000_000_000n;
/** Seconds until the order expires. */
const ORDER_LIFETIME = 365 * 86_400;
/** Seconds until the signed message expires. */
const MESSAGE_LIFETIME = 3_600;

/** What seeding works with. */
export interface SeedModules {
  readonly tip: () => ChainTip;
  /** Unix seconds: the time of the network. */
  readonly now: () => number;
  readonly wallets: readonly FundedWallet[];
  readonly faucet: Faucet;
  /** Sends an external-in message and produces blocks until it is in one. */
  readonly send: (message: PendingExternalIn) => Promise<unknown>;
  /** Produces blocks until no message is on its way. */
  readonly deliver: () => Promise<unknown>;
  readonly setAccount: (address: Address, change: AccountOverride) => Promise<unknown>;
  readonly setConfigParam: (index: number, value: Cell) => Promise<unknown>;
}

/**
 * Deploys what SDKs expect of a network: a DNS root with a domain, a library, a multisig with an order, an extra currency in a wallet
 * of the basechain. What exists already stays, so that a second call changes nothing and one that was interrupted is completed.
 *
 * @throws localnet/not-made when something does not exist afterwards
 */
export async function seedNetwork(modules: SeedModules): Promise<Seeded> {
  const { tip, now, wallets, faucet, send, deliver, setAccount, setConfigParam } = modules;
  const wallet = (version: string, workchain = 0) =>
    wallets.find((one) => one.version === version && one.address.workchain === workchain)!;
  const holder = wallet('v3r2');
  const minter = wallet('v3r2', MASTERCHAIN);
  const signers = [holder.address, wallet('v4r2').address];
  const [root, collection, domain] = [rootResolver(), dnsCollection(), domainItem(LABEL)];
  const library = orderLibrary();
  const publisher = libraryPublisher(library);
  const multi = seedMultisig(signers, faucet.address);
  const order = seedOrder(multi.address);
  const isActive = (address: Address) => accountIn(tip(), address)?.state.kind === 'account_active';
  const hasCurrency = () => (accountIn(tip(), holder.address)?.balance.other.get(CURRENCY) ?? 0n) > 0n;
  const hasLibrary = () =>
    decodeCell(ShardStateUnsplit, tip().masterchain.state).totals.value.libraries.has(library.hash());

  const items: readonly (SeededItem & { readonly exists: () => boolean })[] = [
    {
      ...{ kind: 'dns_root', name: `config param ${DNS_ROOT_PARAM}`, address: root.address, hash: null },
      about: 'resolver of top-level domains',
      exists: () => isActive(root.address) && dnsRootParam(tip()) !== undefined,
    },
    {
      ...{ kind: 'dns_collection', name: '.ton', address: collection.address, hash: null },
      about: 'collection of domains, with the address that it has on mainnet',
      exists: () => isActive(collection.address),
    },
    {
      ...{ kind: 'dns_domain', name: `${LABEL}.ton`, address: domain.address, hash: null },
      about: `owned by the wallet ${holder.address.toFriendly({ bounceable: false })}, which its wallet record names`,
      exists: () => isActive(domain.address) && !isAuctioned(tip(), domain.address),
    },
    {
      ...{ kind: 'library', name: 'multisig order', address: publisher.address, hash: library.hash() },
      about: 'library in the masterchain: the code of orders of multisigs',
      exists: hasLibrary,
    },
    {
      ...{ kind: 'multisig', name: 'multisig', address: multi.address, hash: null },
      about: `${MULTISIG_THRESHOLD} of ${signers.length}: the first wallets v3r2 and v4r2; the faucet proposes`,
      exists: () => isActive(multi.address),
    },
    {
      ...{ kind: 'multisig_order', name: 'order 0', address: order.address, hash: null },
      about: 'pays 1 TON to the wallet v4r2 once both signers approve; its code is a library cell',
      exists: () => isActive(order.address),
    },
    {
      ...{ kind: 'extra_currency', name: String(CURRENCY), address: holder.address, hash: null },
      about: 'extra currency in the first wallet v3r2',
      exists: hasCurrency,
    },
  ].map((item) => ({ ...item, created: !item.exists() }) as SeededItem & { readonly exists: () => boolean });

  const deploy: Cell[] = [];
  if (!isActive(root.address)) deploy.push(deployMessage(root, 10n * COIN));
  if (!isActive(collection.address)) deploy.push(deployMessage(collection, 10n * COIN));
  if (!hasLibrary()) deploy.push(deployMessage(publisher, 1_000n * COIN, new Builder().storeRef(library).endCell()));
  if (!isActive(multi.address)) deploy.push(deployMessage(multi, 10n * COIN));
  await sendAll(deploy, modules);

  const calls: Cell[] = [];
  if (!isActive(domain.address)) calls.push(dnsBid(LABEL));
  if (!isActive(order.address)) calls.push(newOrder(multi.address, signers[1]!, now() + ORDER_LIFETIME));
  await sendAll(calls, modules);

  if (!hasCurrency()) {
    const value = { grams: COIN, other: ExtraCurrencyCollection.of([[CURRENCY, CURRENCY_AMOUNT]]) };
    const message = createTransfer(minter, {
      seqno: seqnoOf(accountIn(tip(), minter.address)),
      validUntil: now() + MESSAGE_LIFETIME,
      messages: [{ message: buildInternalMessage({ to: holder.address, value, bounce: false }) }],
    });
    await send({ message, dest: minter.address });
    await deliver();
  }
  if (isAuctioned(tip(), domain.address)) {
    const data = dataOf(accountIn(tip(), domain.address))!;
    await setAccount(domain.address, { data: ownedDomainData(data, LABEL, holder.address, now()) });
  }
  if (dnsRootParam(tip()) === undefined) {
    await setConfigParam(DNS_ROOT_PARAM, encodeConfigParam(DNS_ROOT_PARAM, root.address.hash));
  }
  const missing = items.find((item) => !item.exists());
  if (missing !== undefined) {
    const wanted = `the ${missing.kind.replace('_', ' ')} ${missing.name}`;
    const problem = `it is not on the chain after the messages that make it; it should be at ${missing.address.toRaw()}`;
    throw localnetErrors['not-made']({ wanted, problem });
  }
  return { block: tip().masterchain.id, items: items.map(({ exists: _, ...item }) => item) };
}

/** Sends messages from the faucet and waits for what follows from them. */
async function sendAll(messages: readonly Cell[], { faucet, send, deliver }: SeedModules): Promise<void> {
  if (messages.length === 0) return;
  await send(faucet.batch(messages));
  await deliver();
}

function dnsRootParam({ masterchain }: ChainTip): Uint8Array | undefined {
  const { config } = decodeCell(ShardStateUnsplit, masterchain.state).custom!.value.config;
  return configParam(config, DNS_ROOT_PARAM);
}

function dataOf(account: AccountStorage | null): Cell | null {
  return account?.state.kind === 'account_active' ? account.state.state_init.data : null;
}

function seqnoOf(account: AccountStorage | null): number {
  const data = dataOf(account);
  return data === null ? 0 : openCell(data).loadUint(32);
}

const DomainHead = layout('_ index:uint256 collection:MsgAddress owner:MsgAddress rest:Any');

/** Whether an item has been made, and its auction is not over: it has no owner yet. */
function isAuctioned(tip: ChainTip, domain: Address): boolean {
  const data = dataOf(accountIn(tip, domain));
  if (data === null) return false;
  const { collection, owner } = DomainHead.load(openCell(data));
  return collection !== null && owner === null;
}
