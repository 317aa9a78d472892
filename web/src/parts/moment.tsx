import { localTime, relativeTime, utcTime } from '../format/time.js';
import { useNow } from '../live/use-now.js';

/** A moment: how long ago it was, or its local time. On hover the local time and UTC. */
export function Moment({
  at,
  full = false,
}: {
  readonly at: number | string | null | undefined;
  readonly full?: boolean;
}) {
  const seconds = at == null ? Number.NaN : Number(at);
  const now = useNow(!full);
  if (!Number.isFinite(seconds)) return <span class="muted">–</span>;
  const local = localTime(seconds);
  const utc = utcTime(seconds);
  return (
    <time dateTime={utc} title={`${local} · ${utc}`} class="moment">
      {full ? local : relativeTime(seconds, now / 1000)}
    </time>
  );
}
