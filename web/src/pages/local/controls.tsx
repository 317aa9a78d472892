import { useState } from 'preact/hooks';
import type { BlockId, LocalStatus } from '../../api/answers.js';
import { ask } from '../../api/ask.js';
import { countText } from '../../format/amount.js';
import { useLoad } from '../../live/use-load.js';
import { useSubmit } from '../../live/use-submit.js';
import { Act, Field } from '../../parts/act.js';
import { Moment } from '../../parts/moment.js';
import { McBlockLink } from '../../parts/reference.js';
import { Untrusted } from '../../parts/untrusted.js';
import { control } from '../local.js';

interface Mined {
  readonly block: BlockId;
}

const UNITS = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 } as const;

/** A whole number that somebody typed. @throws TypeError */
function typedCount(text: string, what: string): number {
  if (!/^\d{1,9}$/.test(text.trim())) throw new TypeError(`${what} must be a whole number.`);
  return Number(text.trim());
}

/** Mining, pausing, block time, and moving the time forward. */
export function BlockControls({ local }: { readonly local: LocalStatus }) {
  const [blocks, setBlocks] = useState('1');
  const [blockTime, setBlockTime] = useState(`${local.block_time}`);
  const [advance, setAdvance] = useState('1');
  const [unit, setUnit] = useState<keyof typeof UNITS>('hours');
  const mine = useSubmit(() => control<Mined>('mine', { blocks: typedCount(blocks, 'The number of blocks') }));
  const pause = useSubmit(() => control<LocalStatus>(local.paused ? 'resume' : 'pause'));
  const pace = useSubmit(() =>
    control<LocalStatus>('block-time', { milliseconds: typedCount(blockTime, 'The block time') }),
  );
  const travel = useSubmit(() => control<Mined>('time', { advance: typedCount(advance, 'The time') * UNITS[unit] }));
  const upTo = ({ block }: Mined) => (
    <>
      Done: masterchain block <McBlockLink seqno={block.seqno} />.
    </>
  );
  return (
    <div class="acts">
      <Act submit={mine} label="Mine" inline done={upTo}>
        <Field label="Blocks" value={blocks} onChange={setBlocks} mode="numeric" required />
      </Act>
      <Act submit={pause} label={local.paused ? 'Resume blocks' : 'Pause blocks'} inline done={() => 'Done.'} />
      <Act submit={pace} label="Set block time" inline done={({ block_time }) => `Every ${countText(block_time)} ms.`}>
        <Field label="Milliseconds" value={blockTime} onChange={setBlockTime} mode="numeric" required />
      </Act>
      <Act submit={travel} label="Move the time" inline done={upTo}>
        <Field label="Forward by" value={advance} onChange={setAdvance} mode="numeric" required />
        <label>
          Unit
          <select value={unit} onChange={(event) => setUnit(event.currentTarget.value as keyof typeof UNITS)}>
            {Object.keys(UNITS).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      </Act>
    </div>
  );
}

interface Snapshot {
  readonly name: string;
  readonly head: BlockId;
  readonly saved_at: number;
}

interface SnapshotsAnswer {
  readonly snapshots: readonly Snapshot[];
}

/** Saving, loading and deleting snapshots, and beginning anew. */
export function Snapshots() {
  const [name, setName] = useState('');
  const list = useLoad(
    'snapshots',
    async (signal) => (await ask<SnapshotsAnswer>('/localnet/snapshots', { signal })).value,
  );
  const save = useSubmit(async () => {
    const saved = await control<Snapshot>('snapshots/save', { name: name.trim() });
    list.reload();
    return saved;
  });
  return (
    <>
      <Act submit={save} label="Save" inline done={(saved) => `Saved ${saved.name}.`}>
        <Field label="Name" value={name} onChange={setName} required />
      </Act>
      <ul class="plain-list">
        {list.value?.snapshots.map((snapshot) => (
          <SnapshotRow key={snapshot.name} snapshot={snapshot} onChanged={list.reload} />
        ))}
      </ul>
      {list.value?.snapshots.length === 0 && <p class="muted">No snapshots yet.</p>}
      <Reset />
    </>
  );
}

function SnapshotRow({ snapshot, onChanged }: { readonly snapshot: Snapshot; readonly onChanged: () => void }) {
  const { name, head, saved_at } = snapshot;
  const load = useSubmit(() => control('snapshots/load', { name }));
  const remove = useSubmit(async () => {
    const left = await control<SnapshotsAnswer>('snapshots/delete', { name });
    onChanged();
    return left;
  });
  return (
    <li class="snapshot">
      <span>
        <Untrusted text={name} />{' '}
        <span class="muted">
          at block {countText(head.seqno)}, <Moment at={saved_at} />
        </span>
      </span>
      <span class="snapshot-acts">
        <Act submit={load} label="Load" inline done={() => 'Loaded.'} />
        <Act submit={remove} label="Delete" inline />
      </span>
    </li>
  );
}

function Reset() {
  const [isSure, setSure] = useState(false);
  const reset = useSubmit(async () => {
    const done = await control<{ readonly new_chain: string }>('reset');
    setSure(false);
    return done;
  });
  return (
    <Act submit={reset} label="Begin a new chain" inline done={({ new_chain }) => `The new chain is ${new_chain}.`}>
      <label class="check">
        <input type="checkbox" checked={isSure} required onChange={(event) => setSure(event.currentTarget.checked)} />
        The chain may be lost
      </label>
    </Act>
  );
}
