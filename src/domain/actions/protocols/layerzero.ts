import {
  actionType,
  addressField,
  amountField,
  integerField,
  recordOf,
  textField,
} from '#domain/actions/action-type.js';
import type { ActionBlock } from '#domain/actions/block.js';
import { callOf, type MatchContext, meaning, optionally, pattern, recognised } from '#domain/actions/pattern.js';
import { jettonTransfer } from '#domain/actions/protocols/jettons.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { loadSnakeBytes } from '#formats/cells/snake.js';
import { layout } from '#formats/tlb/codec/layout.js';
import { toHex } from '#kernel/bytes.js';

/*
 * LayerZero: messages between chains. Its contracts pass objects: a name of 10 bytes, descriptors of the fields, and then the
 * fields in the order of their declaration; fields that are objects or data of any length are references.
 */

/** `objectRef` in the first reference of a message, after its counters and addresses. */
const Body = layout('_ object:^Cell');
/** The object that the first reference of another one is. */
const Outer = layout('_ inner:^Cell');
const HEADER_BITS = 350;

const Packet = layout('_ nonce:uint64 guid:bits256 path:^Cell message:^Cell');
const Path = layout('_ src_eid:uint32 src_oapp:bits256 dst_eid:uint32 dst_oapp:bits256');
const Send = layout(
  '_ send_request_id:uint64 msglib_manager:bits256 msglib:bits256 packet:^Cell enforced_options:^Cell fee:^Cell',
);
const Fee = layout('_ connection:bits256 native_fee:uint128 zro_fee:uint128');
const Verification = layout('_ nonce:uint64 status:uint32');

/** Reads the fields of an object. */
function readObject<Data>(codec: { load(slice: ReturnType<typeof openCell>): Data }, cell: Cell): Data {
  return codec.load(openCell(cell).skip(HEADER_BITS));
}

/** The object in the body of a message. */
function objectOf({ message }: ActionBlock, context: MatchContext): Cell {
  return context.read(Body, message!.body).object;
}

/** The first object within an object. */
function innerOf(cell: Cell, context: MatchContext): Cell {
  return context.read(Outer, cell).inner;
}

/** A number of any size as API v3 writes it: without zeros before it. */
function hexNumber(bytes: Uint8Array): string {
  return `0x${toHex(bytes).replace(/^0+(?=.)/, '')}`;
}

const packetFields = recordOf('LayerZeroPacketData', 'The message between the chains.', {
  src_oapp: textField('Application that sends it, in hexadecimal.'),
  dst_oapp: textField('Application that receives it, in hexadecimal.'),
  src_eid: integerField('Number of the chain that it comes from.'),
  dst_eid: integerField('Number of the chain that it goes to.'),
  nonce: integerField('Number of the message between these applications.'),
  guid: textField('Its id, in hexadecimal.'),
  message: textField('Its bytes, in hexadecimal.'),
});

function packetDetails(cell: Cell, context: MatchContext) {
  const packet = readObject(Packet, cell);
  const path = readObject(Path, packet.path);
  const message = loadSnakeBytes(openCell(packet.message));
  context.spend(1 + message.length / 127);
  return {
    src_oapp: hexNumber(path.src_oapp),
    dst_oapp: hexNumber(path.dst_oapp),
    src_eid: path.src_eid,
    dst_eid: path.dst_eid,
    nonce: Number(packet.nonce),
    guid: hexNumber(packet.guid),
    message: `0x${toHex(message)}`,
  };
}

const sendFields = recordOf('LayerZeroSendData', 'How it is sent.', {
  send_request_id: integerField('Number of the request.'),
  msglib_manager: textField('Manager of the message library, in hexadecimal.'),
  msglib: textField('Message library, in hexadecimal.'),
  uln: addressField('Contract that takes the fees of verifiers.'),
  native_fee: integerField('Fee in nanotons.'),
  zro_fee: integerField('Fee in ZRO.'),
  endpoint: addressField('Contract that all applications call.'),
  channel: addressField('Contract of this pair of applications.'),
});

const EVENT = 0xe33b9873;

const toVerifiers = callOf(0x5de68393, {
  next: {
    sent: callOf(0x421c1a25, { next: { event: optionally(callOf(EVENT)), receipt: callOf(0xa2b5fbae) } }),
  },
});

export const layerzeroSendType = actionType('layerzero_send', 'A message was sent to another chain.', {
  initiator: addressField('Application that sent it.', 'source'),
  layerzero_send_data: sendFields,
  layerzero_packet_data: packetFields,
});

/** Data of a sent message for patterns that build on it. */
interface SendDetails {
  readonly layerzero_send_data: ReturnType<typeof sendDetails>;
  readonly layerzero_packet_data: ReturnType<typeof packetDetails>;
}

function sendDetails(
  send: {
    readonly send_request_id: bigint;
    readonly msglib_manager: Uint8Array;
    readonly msglib: Uint8Array;
    readonly fee: Cell;
  },
  at: { readonly endpoint: ActionBlock; readonly channel: ActionBlock; readonly uln: ActionBlock },
  context: MatchContext,
) {
  const { native_fee, zro_fee } = context.read(Fee, send.fee);
  return {
    send_request_id: Number(send.send_request_id),
    msglib_manager: hexNumber(send.msglib_manager),
    msglib: hexNumber(send.msglib),
    uln: at.uln.destination,
    native_fee: Number(native_fee),
    zro_fee: Number(zro_fee),
    endpoint: at.endpoint.destination,
    channel: at.channel.destination,
  };
}

export const layerzeroSend = pattern(
  'layerzero_send',
  callOf(0xdd4ea3b4, {
    next: { channel: callOf(0x536feb09, { next: { library: callOf(0x4002b790, { next: { uln: toVerifiers } }) } }) },
  }),
  ({ block, channel }, context) => {
    const { uln } = channel.library;
    const { receipt } = uln.sent;
    // The body refers to an object of receipt and channel, and the receipt to the object of the request.
    const send = readObject(Send, innerOf(innerOf(objectOf(receipt.block, context), context), context));
    const learned: SendDetails = {
      layerzero_send_data: sendDetails(send, { endpoint: block, channel: channel.block, uln: uln.block }, context),
      layerzero_packet_data: packetDetails(send.packet, context),
    };
    return meaning(layerzeroSendType, { initiator: block.source, ...learned }, { failed: block.failed, data: learned });
  },
);

export const layerzeroSendTokensType = actionType('layerzero_send_tokens', 'Jettons were sent to another chain.', {
  sender: addressField('Who sent them.', 'source'),
  sender_wallet: addressField('Wallet of the sender.', 'source_secondary'),
  oapp: addressField('Application that took them.', 'destination'),
  oapp_wallet: addressField('Wallet of the application.', 'destination_secondary'),
  asset: addressField('Jetton master.', 'asset'),
  amount: amountField('In the smallest units of the jetton.', 'amount'),
  layerzero_send_data: sendFields,
  layerzero_packet_data: packetFields,
});

export const layerzeroSendTokens = pattern(
  'layerzero_send_tokens',
  recognised(jettonTransfer, { next: { event: optionally(callOf(EVENT)), send: recognised(layerzeroSend) } }),
  ({ block, data, send }) => {
    const details = {
      sender: data.sender,
      sender_wallet: data.sender_wallet,
      oapp: data.receiver,
      oapp_wallet: data.receiver_wallet,
      asset: data.asset,
      amount: data.amount,
      ...send.data,
    };
    return meaning(layerzeroSendTokensType, details, { failed: block.failed || send.block.failed });
  },
);

export const layerzeroReceiveType = actionType('layerzero_receive', 'A message from another chain was received.', {
  sender: addressField('Who delivered it.', 'source'),
  oapp: addressField('Application that received it.', 'destination'),
  channel: addressField('Contract of this pair of applications.', 'destination_secondary'),
  layerzero_packet_data: packetFields,
});

export const layerzeroReceive = pattern(
  'layerzero_receive',
  callOf(0x22f3ac09, {
    next: {
      asked: callOf(0x97df404c, {
        next: {
          locked: callOf(0xb7680bc6, { next: { given: callOf(0x0c7b8418, { next: { done: callOf(0xcaae25a1) } }) } }),
        },
      }),
    },
  }),
  ({ block, asked }, context) => {
    const { given } = asked.locked;
    const details = {
      sender: block.source,
      oapp: asked.block.destination,
      channel: block.destination,
      layerzero_packet_data: packetDetails(innerOf(objectOf(given.block, context), context), context),
    };
    return meaning(layerzeroReceiveType, details, { failed: block.failed || given.block.failed });
  },
);

export const layerzeroCommitPacketType = actionType(
  'layerzero_commit_packet',
  'A message from another chain was verified, and can be delivered.',
  {
    sender: addressField('Who committed it.', 'source'),
    endpoint: addressField('Contract that all applications call.', 'source_secondary'),
    uln: addressField('Contract that counts verifications.', 'destination'),
    uln_connection: addressField(
      'Contract that counts verifications of this pair of applications.',
      'destination_secondary',
    ),
    channel: addressField('Contract of this pair of applications.', 'asset'),
    msglib_connection: addressField('The contract that is notified that it can be delivered.', 'asset_secondary'),
    layerzero_packet_data: packetFields,
  },
);

export const layerzeroCommitPacket = pattern(
  'layerzero_commit_packet',
  callOf(0x28b97077, {
    next: {
      verified: callOf(0xf9d37b80, {
        next: {
          endpoint: callOf(0x5dab749a, {
            next: { channel: callOf(0x5388cd88, { next: { done: callOf(0x5e178f33) } }) },
          }),
        },
      }),
    },
  }),
  ({ block, verified }, context) => {
    const { endpoint } = verified;
    const { channel } = endpoint;
    const details = {
      sender: block.source,
      endpoint: endpoint.block.destination,
      // Both are the same contract of the same messages.
      uln: verified.block.destination,
      uln_connection: verified.block.destination,
      channel: channel.block.destination,
      msglib_connection: channel.done.block.destination,
      layerzero_packet_data: packetDetails(innerOf(objectOf(channel.block, context), context), context),
    };
    return meaning(layerzeroCommitPacketType, details, { failed: block.failed || channel.block.failed });
  },
);

/** `verificationStatus` of the contract that counts verifications. */
const STATUSES: Readonly<Record<number, string>> = {
  1002188907: 'succeeded',
  2144056492: 'nonce_out_of_range',
  700792747: 'dvn_not_configured',
};

export const layerzeroDvnVerifyType = actionType(
  'layerzero_dvn_verify',
  'A verifier confirmed a message from another chain.',
  {
    initiator: addressField('Who started it.', 'source'),
    nonce: integerField('Number of the message.'),
    status: textField('What came of it; `unknown_` and the code when it is another.', Object.values(STATUSES)),
    dvn: addressField('The verifier.'),
    proxy: addressField('Contract that passed it on.'),
    uln: addressField('Contract that counts verifications.'),
    uln_connection: addressField('Contract that counts verifications of this pair of applications.'),
  },
);

export const layerzeroDvnVerify = pattern(
  'layerzero_dvn_verify',
  callOf(0xa0d51a8d, {
    next: {
      proxy: callOf(0x09f047d9, {
        next: {
          uln: callOf(0x994aaf4e, {
            next: { connection: callOf(0x4ec8f80a, { next: { reply: callOf(0x3cb38090) } }) },
          }),
        },
      }),
    },
  }),
  ({ block, proxy }, context) => {
    const { uln } = proxy;
    const { connection } = uln;
    const { nonce, status } = readObject(Verification, innerOf(objectOf(connection.reply.block, context), context));
    const details = {
      initiator: block.source,
      nonce: Number(nonce),
      status: STATUSES[status] ?? `unknown_${status}`,
      dvn: block.destination,
      proxy: proxy.block.destination,
      uln: uln.block.destination,
      uln_connection: connection.block.destination,
    };
    return meaning(layerzeroDvnVerifyType, details, { failed: block.failed });
  },
);
