import { actionType, addressField, amountField } from '#domain/actions/action-type.js';
import { call, meaning, pattern } from '#domain/actions/pattern.js';
import { layout } from '#formats/tlb/codec/layout.js';

/* A made-up guestbook: visitors sign it, and it thanks them with a number. */

const Sign = layout('sign#67626b01 query_id:uint64');
const Thanks = layout('thanks#67626b02 query_id:uint64 entry:uint64');

export const guestbookSignType = actionType('guestbook_sign', 'A visitor signed a guestbook.', {
  query_id: amountField('Chosen by the visitor.'),
  visitor: addressField('Who signed.', 'source'),
  guestbook: addressField('The guestbook.', 'destination'),
  entry: amountField('Number of the entry.'),
});

export const guestbookSign = pattern(
  'guestbook_sign',
  call(Sign, { next: { thanks: call(Thanks) } }),
  ({ block, data, thanks }, context) => {
    if (thanks.data.query_id !== data.query_id) return context.refuse('the thanks are for another entry');
    const details = {
      query_id: data.query_id,
      visitor: block.source,
      guestbook: block.destination,
      entry: thanks.data.entry,
    };
    return meaning(guestbookSignType, details, { failed: block.failed || thanks.block.failed });
  },
);
