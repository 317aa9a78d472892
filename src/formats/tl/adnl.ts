import type { TlValue } from '#formats/tl/constructor.js';
import { tlFunction, tlRecord, tlUnion, tlVariant } from '#formats/tl/schema-line.js';

// The types of schemas/adnl.tl that ADNL over TCP needs, line by line.

export const AdnlMessageQuery = tlVariant('adnl.message.query query_id:int256 query:bytes = adnl.Message;');
export type AdnlMessageQuery = TlValue<typeof AdnlMessageQuery>;

export const AdnlMessageAnswer = tlVariant('adnl.message.answer query_id:int256 answer:bytes = adnl.Message;');
export type AdnlMessageAnswer = TlValue<typeof AdnlMessageAnswer>;

/** `adnl.Message` */
export const AdnlMessage = tlUnion('adnl.Message', AdnlMessageQuery, AdnlMessageAnswer);
export type AdnlMessage = TlValue<typeof AdnlMessage>;

export const TcpPong = tlRecord('tcp.pong random_id:long = tcp.Pong;');
export type TcpPong = TlValue<typeof TcpPong>;

export const PubEd25519 = tlRecord('pub.ed25519 key:int256 = PublicKey;');
export type PubEd25519 = TlValue<typeof PubEd25519>;

export const TcpAuthentificate = tlVariant('tcp.authentificate nonce:bytes = tcp.Message;');
export type TcpAuthentificate = TlValue<typeof TcpAuthentificate>;

export const TcpAuthentificationNonce = tlVariant('tcp.authentificationNonce nonce:bytes = tcp.Message;');
export type TcpAuthentificationNonce = TlValue<typeof TcpAuthentificationNonce>;

export const TcpAuthentificationComplete = tlVariant(
  'tcp.authentificationComplete key:PublicKey signature:bytes = tcp.Message;',
  PubEd25519,
);
export type TcpAuthentificationComplete = TlValue<typeof TcpAuthentificationComplete>;

/** `tcp.Message` */
export const TcpMessage = tlUnion(
  'tcp.Message',
  TcpAuthentificate,
  TcpAuthentificationNonce,
  TcpAuthentificationComplete,
);
export type TcpMessage = TlValue<typeof TcpMessage>;

export const TcpPing = tlFunction('tcp.ping random_id:long = tcp.Pong;', TcpPong);
export type TcpPing = TlValue<typeof TcpPing>;
