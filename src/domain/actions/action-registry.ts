import type { ActionType, DetailFields, DetailValues } from '#domain/actions/action-type.js';
import type { ActionBlock } from '#domain/actions/block.js';
import type { MatchContext, Pattern } from '#domain/actions/pattern.js';
import * as basic from '#domain/actions/protocols/basic.js';
import * as cocoon from '#domain/actions/protocols/cocoon.js';
import * as coffee from '#domain/actions/protocols/coffee.js';
import * as coffeeMev from '#domain/actions/protocols/coffee-mev.js';
import * as coffeeStaking from '#domain/actions/protocols/coffee-staking.js';
import * as dedust from '#domain/actions/protocols/dedust.js';
import * as dedustV2 from '#domain/actions/protocols/dedust-v2.js';
import * as dex from '#domain/actions/protocols/dex.js';
import * as dns from '#domain/actions/protocols/dns.js';
import * as elections from '#domain/actions/protocols/elections.js';
import * as ethena from '#domain/actions/protocols/ethena.js';
import * as evaa from '#domain/actions/protocols/evaa.js';
import * as jettons from '#domain/actions/protocols/jettons.js';
import * as jvault from '#domain/actions/protocols/jvault.js';
import * as layerzero from '#domain/actions/protocols/layerzero.js';
import * as multisig from '#domain/actions/protocols/multisig.js';
import * as sales from '#domain/actions/protocols/nft-sales.js';
import * as nfts from '#domain/actions/protocols/nfts.js';
import * as staking from '#domain/actions/protocols/staking.js';
import * as stonfi from '#domain/actions/protocols/stonfi.js';
import * as stonfiV2 from '#domain/actions/protocols/stonfi-v2.js';
import * as subscriptions from '#domain/actions/protocols/subscriptions.js';
import * as tgbtc from '#domain/actions/protocols/tgbtc.js';
import * as tonco from '#domain/actions/protocols/tonco.js';
import * as tonstakers from '#domain/actions/protocols/tonstakers.js';
import * as vesting from '#domain/actions/protocols/vesting.js';
import type { Address } from '#formats/address/address.js';

/** All types of actions. A new one is registered here, and its pattern below. */
const TYPES = [
  basic.callContract,
  basic.contractDeploy,
  basic.tonTransfer,
  basic.tickTock,
  basic.unknownAction,
  jettons.jettonTransferType,
  jettons.jettonBurnType,
  jettons.jettonMintType,
  nfts.nftTransferType,
  nfts.nftPurchaseType,
  nfts.nftMintType,
  nfts.nftDiscoveryType,
  sales.nftPutOnSaleType,
  sales.nftPutOnAuctionType,
  sales.nftUpdateSaleType,
  sales.nftCancelSaleType,
  sales.nftCancelAuctionType,
  sales.nftFinishAuctionType,
  sales.auctionBidType,
  sales.auctionOutbidType,
  sales.teleitemStartAuctionType,
  sales.teleitemCancelAuctionType,
  dns.changeDnsType,
  dns.deleteDnsType,
  dns.renewDnsType,
  dns.dnsPurchaseType,
  dns.dnsReleaseType,
  multisig.multisigCreateOrderType,
  multisig.multisigApproveType,
  multisig.multisigExecuteType,
  vesting.vestingSendMessageType,
  vesting.vestingAddWhitelistType,
  staking.stakeDepositType,
  staking.stakeWithdrawalType,
  staking.stakeWithdrawalRequestType,
  dex.jettonSwapType,
  dex.dexDepositLiquidityType,
  dex.dexWithdrawLiquidityType,
  elections.electionDepositType,
  elections.electionRecoverType,
  subscriptions.subscribeType,
  subscriptions.unsubscribeType,
  evaa.evaaSupplyType,
  evaa.evaaWithdrawType,
  evaa.evaaLiquidateType,
  jvault.jvaultStakeType,
  jvault.jvaultUnstakeType,
  jvault.jvaultUnstakeRequestType,
  jvault.jvaultClaimType,
  tonco.toncoDeployPoolType,
  coffee.coffeeCreateVaultType,
  coffee.coffeeCreatePoolCreatorType,
  coffee.coffeeCreatePoolType,
  coffeeMev.coffeeMevHoldType,
  coffeeMev.coffeeMevFailedType,
  coffeeStaking.coffeeStakingDepositType,
  coffeeStaking.coffeeStakingWithdrawType,
  coffeeStaking.coffeeStakingClaimType,
  tgbtc.tgbtcMintType,
  tgbtc.tgbtcMintFallbackType,
  tgbtc.tgbtcBurnType,
  tgbtc.tgbtcBurnFallbackType,
  tgbtc.tgbtcNewKeyType,
  tgbtc.tgbtcNewKeyFallbackType,
  tgbtc.tgbtcKeyGeneratedType,
  layerzero.layerzeroSendType,
  layerzero.layerzeroSendTokensType,
  layerzero.layerzeroReceiveType,
  layerzero.layerzeroCommitPacketType,
  layerzero.layerzeroDvnVerifyType,
  cocoon.cocoonWorkerPayoutType,
  cocoon.cocoonProxyPayoutType,
  cocoon.cocoonProxyChargeType,
  cocoon.cocoonClientTopUpType,
  cocoon.cocoonRegisterProxyType,
  cocoon.cocoonUnregisterProxyType,
  cocoon.cocoonClientRegisterType,
  cocoon.cocoonClientChangeSecretHashType,
  cocoon.cocoonClientRequestRefundType,
  cocoon.cocoonGrantRefundType,
  cocoon.cocoonClientIncreaseStakeType,
  cocoon.cocoonClientWithdrawType,
  dedustV2.dedustV2ClaimFeesType,
  dedustV2.dedustV2ClaimRewardType,
] as const;

/**
 * All patterns, in the order in which they are tried: earlier ones see single messages, later ones also what the earlier ones
 * recognised.
 */
export const PATTERNS: readonly Pattern[] = [
  nfts.nftMint,
  tonstakers.tonstakersPayout,
  tonstakers.tonstakersDeposit,
  tonstakers.tonstakersWithdraw,
  multisig.multisigCreateOrder,
  multisig.multisigApprove,
  multisig.multisigApproveByComment,
  multisig.multisigExecute,
  vesting.vestingSendMessage,
  vesting.vestingAddWhitelist,
  staking.nominatorDeposit,
  staking.nominatorWithdrawalRequest,
  staking.nominatorProcessWithdrawals,
  jettons.jettonTransfer,
  jettons.wrappedTonTransfer,
  dedust.dedustDeposit,
  dedust.dedustWithdraw,
  jettons.jettonBurn,
  dedust.dedustSwap,
  dedustV2.dedustV2Swap,
  dedustV2.dedustV2JettonSwap,
  dedustV2.dedustV2Deposit,
  dedustV2.dedustV2Withdraw,
  dedustV2.dedustV2ClaimFees,
  dedustV2.dedustV2ClaimReward,
  stonfi.stonfiSwap,
  stonfiV2.stonfiV2Swap,
  tonco.toncoSwap,
  dns.dnsRelease,
  dns.dnsPurchase,
  sales.nftUpdateSale,
  nfts.nftTransfer,
  nfts.telegramPurchase,
  nfts.nftPurchase,
  sales.nftListing,
  sales.teleitemStartAuction,
  sales.teleitemCancelAuction,
  nfts.nftDiscovery,
  dns.changeDns,
  elections.electionDeposit,
  elections.electionRecover,
  subscriptions.subscribe,
  subscriptions.unsubscribe,
  sales.auctionBid,
  sales.auctionOutbid,
  sales.nftCancelSale,
  sales.nftEndAuction,
  ethena.ethenaWithdrawalRequest,
  jettons.jettonMint,
  jettons.oldJettonMint,
  ethena.ethenaDeposit,
  stonfiV2.stonfiV2Deposit,
  stonfiV2.stonfiV2Withdraw,
  stonfiV2.stonfiV2Refund,
  jvault.jvaultStake,
  jvault.jvaultUnstake,
  jvault.jvaultClaim,
  jvault.jvaultUnstakeRequest,
  evaa.evaaSupply,
  evaa.evaaJettonSupply,
  evaa.evaaWithdraw,
  evaa.evaaLiquidate,
  evaa.evaaJettonLiquidate,
  tgbtc.tgbtcMint,
  tgbtc.tgbtcBurn,
  tgbtc.tgbtcNewKey,
  tgbtc.tgbtcMintFallback,
  tgbtc.tgbtcBurnFallback,
  tgbtc.tgbtcNewKeyFallback,
  tgbtc.tgbtcKeyGenerated,
  tonco.toncoDeposit,
  tonco.toncoDeployPool,
  tonco.toncoWithdraw,
  coffee.coffeeDeposit,
  coffee.coffeeSwap,
  coffee.coffeeWithdraw,
  coffee.coffeeCreateVault,
  coffee.coffeeCreatePoolCreator,
  coffee.coffeeCreatePool,
  coffeeMev.coffeeMevHold,
  coffeeMev.coffeeMevHoldJettons,
  coffeeMev.coffeeMevFailed,
  coffeeMev.coffeeMevFailedJettons,
  coffeeStaking.coffeeStakingDeposit,
  coffeeStaking.coffeeStakingWithdraw,
  coffeeStaking.coffeeStakingClaim,
  layerzero.layerzeroSend,
  layerzero.layerzeroSendTokens,
  layerzero.layerzeroReceive,
  layerzero.layerzeroCommitPacket,
  layerzero.layerzeroDvnVerify,
  cocoon.cocoonWorkerPayout,
  cocoon.cocoonWorkerLastPayout,
  cocoon.cocoonProxyPayout,
  cocoon.cocoonProxyCharge,
  cocoon.cocoonClientTopUp,
  cocoon.cocoonRegisterProxy,
  cocoon.cocoonUnregisterProxy,
  cocoon.cocoonClientRegister,
  cocoon.cocoonClientChangeSecretHash,
  cocoon.cocoonClientRequestRefund,
  cocoon.cocoonGrantRefund,
  cocoon.cocoonClientIncreaseStake,
  cocoon.cocoonClientWithdraw,
  dedust.dedustJoinedDeposit,
  dedustV2.dedustV2JoinedDeposit,
];

/** Changes of the blocks after all patterns were tried. */
export const FINISHERS: readonly ((blocks: readonly ActionBlock[], context: MatchContext) => void)[] = [];

/** Types of actions by name. */
export const ACTION_TYPES: ReadonlyMap<string, ActionType> = new Map(
  (TYPES as unknown as readonly ActionType[]).map((type) => [type.name, type]),
);

type RegisteredType = (typeof TYPES)[number];
export type ActionTypeName = RegisteredType['name'];

/** The details of a type. */
type ActionDetails<Name extends ActionTypeName = ActionTypeName> =
  Extract<RegisteredType, { readonly name: Name }> extends ActionType<string, infer Fields>
    ? DetailValues<Fields>
    : DetailValues<DetailFields>;

/** Something that happened, in the words that wallets show. */
export type Action = { [Name in ActionTypeName]: ActionOf<Name> }[ActionTypeName];

interface ActionOf<Name extends ActionTypeName> {
  /** 32 bytes: stable for the same trace. */
  readonly action_id: Uint8Array;
  /** A transfer or call with other currencies keeps its type here; API v3 shows it as `extra_currency_transfer`. */
  readonly type: Name;
  readonly details: ActionDetails<Name>;
  readonly success: boolean;
  /** Of its first message, or else transaction. */
  readonly start_lt: bigint;
  readonly start_utime: number;
  /** Of its last transaction. */
  readonly end_lt: bigint;
  readonly end_utime: number;
  readonly mc_seqno_end: number;
  /** Positions in the given trace, by logical time. */
  readonly transactions: readonly number[];
  /** All participants, each once. */
  readonly accounts: readonly Address[];
  /** The action that it is a part of. */
  readonly parent_action_id: Uint8Array | null;
  /** Types of all actions that it is a part of: clients that support one of them are not shown it. */
  readonly ancestor_types: readonly ActionTypeName[];
}
