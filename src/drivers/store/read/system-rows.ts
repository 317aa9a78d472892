import { accountKey, addressBytes } from '#drivers/store/keys.js';
import { raw, type Sql, sql } from '#drivers/store/read/session.js';
import { Address } from '#formats/address/address.js';

/** Account 0 of the masterchain: the source of special messages, by which a masterchain block pays validators and mints. */
const SYSTEM_SENDER = accountKey(addressBytes(Address.ofParts(-1, new Uint8Array(32))));

/**
 * Whether a transaction is one of the machinery of the masterchain: a tick-tock transaction, or one that received a special message
 * (`recover_create_msg`, `mint_msg`). Reads the message only of transactions of the masterchain.
 * @param alias of `transactions`
 */
export function isSystemTransaction(alias: string): Sql {
  const t = raw(alias);
  return sql`(${t}.workchain = -1 AND (${t}.in_msg_key IS NULL OR EXISTS (
    SELECT FROM messages sm WHERE sm.msg_key = ${t}.in_msg_key AND sm.source_key = ${SYSTEM_SENDER}::bigint OFFSET 0
  )))`;
}

/** Whether a trace begins with such a transaction. @param root the id of its first transaction */
export function isSystemTrace(root: Sql): Sql {
  return sql`EXISTS (
    SELECT FROM (SELECT * FROM transactions t WHERE t.id = ${root} LIMIT 1) AS t WHERE ${isSystemTransaction('t')} OFFSET 0
  )`;
}

/** Whether a message is a special one. @param alias of `messages` */
export function isSystemMessage(alias: string): Sql {
  return sql`${raw(alias)}.source_key IS NOT DISTINCT FROM ${SYSTEM_SENDER}::bigint`;
}
