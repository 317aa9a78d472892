import { streamErrors } from '#api/stream/errors.js';

/**
 * Finalized events stand in three lanes, since actions and the contents of contracts are known later than transactions: `blocks`
 * (transactions and account states), `jettons` (jetton wallets), `actions` (actions and traces). Each lane is in the order of the
 * masterchain blocks, and within a block in an order that follows from the chain.
 */
export const LANES = ['blocks', 'jettons', 'actions'] as const;
export type StreamLane = (typeof LANES)[number];

/** A place in a lane: behind the event of this order within a masterchain block. */
export interface LanePosition {
  readonly seqno: number;
  /** Null: behind all events of the block. */
  readonly order: bigint | null;
}

/** A place in each lane. */
export type StreamPosition = Readonly<Record<StreamLane, LanePosition>>;

/** Behind all events of a masterchain block. */
export function behindBlock(seqno: number): LanePosition {
  return { seqno, order: null };
}

/** The first masterchain block with events behind a position. */
export function nextBlock({ seqno, order }: LanePosition): number {
  return order === null ? seqno + 1 : seqno;
}

/** Whether an event lies behind a position. */
export function isBehind(
  event: { readonly seqno: number; readonly order: bigint },
  { seqno, order }: LanePosition,
): boolean {
  if (event.seqno !== seqno) return event.seqno > seqno;
  return order !== null && event.order > order;
}

/**
 * A position as clients get it: `3f0a91c2.2633.2633.2630-9f3c`, the first digits of the zerostate's file hash (of a local network, of its
 * incarnation) and the place in each lane. Clients take it as opaque.
 */
export function cursorText(chain: string, position: StreamPosition): string {
  return [chain, ...LANES.map((lane) => laneText(position[lane]))].join('.');
}

function laneText({ seqno, order }: LanePosition): string {
  return order === null ? String(seqno) : `${seqno}-${order.toString(16)}`;
}

/** In place of a cursor: begin now. The reply then has the cursor of that place, from which it can be resumed. */
export const NOW = 'now';

const LANE = /^(0|[1-9][0-9]{0,9})(?:-([0-9a-f]{1,20}))?$/;
const LONGEST = 120;

/** The opposite of {@link cursorText}. @throws stream/cursor */
export function parseCursor(chain: string, text: string): StreamPosition {
  const wrong = (problem: string) => streamErrors.cursor({ problem });
  if (text.length > LONGEST) throw wrong('it is too long');
  const [network, ...lanes] = text.split('.');
  if (lanes.length !== LANES.length) throw wrong('it is not the cursor of an event');
  if (network !== chain) throw wrong('it is of another network, or of a local network that was set back');
  const positions = lanes.map((lane) => {
    const [, seqno, order] = LANE.exec(lane) ?? [];
    if (seqno === undefined || Number(seqno) > 0xffff_ffff) throw wrong('it is not the cursor of an event');
    return { seqno: Number(seqno), order: order === undefined ? null : BigInt(`0x${order}`) };
  });
  return { blocks: positions[0]!, jettons: positions[1]!, actions: positions[2]! };
}
