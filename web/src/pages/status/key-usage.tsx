import { apiKey } from '../../api/api-key.js';
import { ask } from '../../api/ask.js';
import { countText } from '../../format/amount.js';
import { useLoad } from '../../live/use-load.js';
import { Section } from '../../parts/facts.js';
import { Moment } from '../../parts/moment.js';
import { Sliced } from '../../parts/sliced.js';
import { TableFrame } from '../../parts/table-frame.js';
import { Untrusted } from '../../parts/untrusted.js';

interface Key {
  readonly id: string;
  readonly label: string;
  readonly owner: string | null;
  readonly plan: string;
  readonly revoked_at: string | null;
  /** ISO 8601. */
  readonly last_used: string | null;
}

interface DayOfUsage {
  readonly day: string;
  /** Id of the key, or `anonymous`. */
  readonly key: string;
  readonly allowed: number;
  readonly limited: number;
  readonly work: number;
}

/** What a key was used for, over some days. */
interface KeyUse extends Pick<DayOfUsage, 'allowed' | 'limited' | 'work'> {
  readonly id: string;
  /** Null: requests without a key. */
  readonly key: Key | null;
}

const DAYS = 7;
const SLICE = 100;

async function usageOfKeys(signal: AbortSignal): Promise<readonly KeyUse[]> {
  const [{ value: known }, { value: used }] = [
    await ask<{ readonly keys: readonly Key[] }>('/admin/keys', { signal }),
    await ask<{ readonly usage: readonly DayOfUsage[] }>('/admin/usage', { query: { days: DAYS }, signal }),
  ];
  const ids = new Set([...known.keys.map(({ id }) => id), ...used.usage.map(({ key }) => key)]);
  const uses = [...ids].map((id) => {
    const own = used.usage.filter(({ key }) => key === id);
    const sum = (of: (day: DayOfUsage) => number) => own.reduce((total, day) => total + of(day), 0);
    const key = known.keys.find((each) => each.id === id) ?? null;
    return {
      id,
      key,
      allowed: sum((day) => day.allowed),
      limited: sum((day) => day.limited),
      work: sum((day) => day.work),
    };
  });
  return uses.sort((a, b) => b.work - a.work);
}

/** Keys and what they were used for; nothing without an admin key. */
export function KeyUsage() {
  const { value } = useLoad(apiKey() === null ? null : 'key-usage', usageOfKeys);
  if (value === null) return null;
  return (
    <Section title={`Keys in the last ${DAYS} days: ${countText(value.length)}`}>
      <Sliced
        rows={value}
        step={SLICE}
        what="keys"
        frame={(drawn) => (
          <TableFrame>
            <table class="table">
              <thead>
                <tr>
                  <th scope="col">Key</th>
                  <th scope="col">Plan</th>
                  <th scope="col" class="number">
                    Requests
                  </th>
                  <th scope="col" class="number">
                    Refused
                  </th>
                  <th scope="col" class="number">
                    Work
                  </th>
                  <th scope="col">Last used</th>
                </tr>
              </thead>
              <tbody>{drawn}</tbody>
            </table>
          </TableFrame>
        )}
        row={({ id, key, allowed, limited, work }) => (
          <tr key={id}>
            <td>
              <span class="mono">{id}</span>{' '}
              {key !== null && key.label !== '' && <Untrusted text={key.label} most={40} />}
              {key?.revoked_at != null && <span class="badge badge-bad">revoked</span>}
            </td>
            <td>{key === null ? '–' : key.owner === null ? key.plan : `${key.plan} of ${key.owner}`}</td>
            <td class="number">{countText(allowed)}</td>
            <td class="number">{countText(limited)}</td>
            <td class="number">{countText(work)}</td>
            <td>
              <Moment at={key?.last_used == null ? null : Date.parse(key.last_used) / 1000} />
            </td>
          </tr>
        )}
      />
    </Section>
  );
}
