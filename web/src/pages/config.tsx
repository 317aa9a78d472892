import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBocBase64 } from '#formats/cells/boc-serialize.js';
import type { Cell } from '#formats/cells/cell.js';
import { fromBase64 } from '#kernel/bytes.js';
import { askV2 } from '../api/ask.js';
import { type ConfigField, type ConfigParam, configParams, validatorSet } from '../chain/config-params.js';
import { countText } from '../format/amount.js';
import { durationText } from '../format/time.js';
import { useLoad } from '../live/use-load.js';
import { AccountLink } from '../parts/address.js';
import { Ton } from '../parts/amount.js';
import { Fact, Facts, Section } from '../parts/facts.js';
import { Moment } from '../parts/moment.js';
import { Loading, Notice, ProblemNotice } from '../parts/notice.js';
import { HashText } from '../parts/reference.js';
import { TableFrame } from '../parts/table-frame.js';
import { pathOf } from '../routing/location.js';
import { Link } from '../routing/router.js';
import { BocText } from './account/contract.js';

/** The configuration of the newest masterchain block, proven. */
function useConfig() {
  return useLoad('config', async (signal) => {
    const { config } = await askV2<{ readonly config: { readonly bytes: string } }>('getConfigAll', {}, signal);
    return configParams(rootOf(config.bytes));
  });
}

function rootOf(boc: string): Cell {
  const bytes = fromBase64(boc);
  if (bytes === null) throw new TypeError('The configuration is no base64.');
  return parseBocRoot(bytes);
}

/** The parameters of the configuration. */
export function ConfigPage() {
  const { value, problem } = useConfig();
  if (value === null)
    return problem === null ? (
      <Loading what="the configuration" />
    ) : (
      <ProblemNotice problem={problem} what="configuration" />
    );
  return (
    <>
      <h1>Configuration</h1>
      <p class="lead">
        {countText(value.length)} parameters of the newest masterchain block, <span class="proven">✓ proven</span>.
      </p>
      {value.map((param) => (
        <ParamCard key={param.number} param={param} />
      ))}
    </>
  );
}

function ParamCard({ param }: { readonly param: ConfigParam }) {
  const { number, title, fields, cell } = param;
  return (
    <Section title={`${number}${title === '' ? '' : ` · ${title}`}`}>
      {fields !== null && (
        <Facts>
          {fields.map((field) => (
            <Fact key={field.name} name={shortName(field.name)}>
              <FieldValue field={field} />
            </Fact>
          ))}
        </Facts>
      )}
      {SETS.some(([each]) => each === number) && (
        <p>
          <Link to={pathOf(['validators'])}>One by one</Link>
        </p>
      )}
      <BocText title={`Parameter ${number}`} boc={serializeBocBase64(cell)} />
    </Section>
  );
}

/** Keys of dictionaries may be as long as hashes. */
const shortName = (name: string) => name.replaceAll(/[0-9a-f]{64}/g, (hash) => `${hash.slice(0, 8)}…`);

/** Longer lists are opened first. */
const MOST_OPEN = 20;

function FieldValue({ field }: { readonly field: ConfigField }) {
  switch (field.kind) {
    case 'coins':
      return <Ton nano={field.value} />;
    case 'account':
      return <AccountLink address={field.value} />;
    case 'accounts':
      return <AccountList accounts={field.value} />;
    case 'numbers':
      return <>{field.value.join(', ')}</>;
    case 'hash':
      return <HashText hash={field.value} what="value" />;
    case 'time':
      return field.value === 0n ? <>from the beginning</> : <Moment at={Number(field.value)} full />;
    case 'seconds':
      return (
        <>
          {durationText(Number(field.value))} <span class="muted">({countText(field.value)} s)</span>
        </>
      );
    case 'flag':
      return <>{field.value ? 'yes' : 'no'}</>;
    case 'none':
      return <span class="muted">none</span>;
    default:
      return <span class="amount">{countText(field.value)}</span>;
  }
}

function AccountList({ accounts }: { readonly accounts: readonly string[] }) {
  const list = accounts.map((address) => (
    <div key={address}>
      <AccountLink address={address} />
    </div>
  ));
  if (list.length <= MOST_OPEN) return <>{list}</>;
  return (
    <details>
      <summary>{countText(list.length)} accounts</summary>
      {list}
    </details>
  );
}

const SETS: readonly (readonly [number, string])[] = [
  [34, 'Current validators'],
  [36, 'Next validators'],
  [32, 'Previous validators'],
];

/** The sets of validators. */
export function ValidatorsPage() {
  const { value, problem } = useConfig();
  if (value === null)
    return problem === null ? <Loading what="validators" /> : <ProblemNotice problem={problem} what="configuration" />;
  const known = SETS.flatMap(([number, title]) => {
    const param = value.find((each) => each.number === number);
    return param === undefined ? [] : [{ title, set: validatorSet(param.cell) }];
  });
  return (
    <>
      <h1>Validators</h1>
      {known.length === 0 && <Notice title="The configuration has no validators." />}
      {known.map(({ title, set }) => (
        <Section key={title} title={`${title}: ${countText(set.validators.length)}`}>
          <Facts>
            <Fact name="From">
              <Moment at={set.since} full />
            </Fact>
            <Fact name="To">
              <Moment at={set.until} full />
            </Fact>
            <Fact name="Of the masterchain">the first {countText(set.main)}</Fact>
          </Facts>
          <TableFrame>
            <table class="table">
              <thead>
                <tr>
                  <th scope="col">Nr.</th>
                  <th scope="col">Public key</th>
                  <th scope="col">ADNL address</th>
                  <th scope="col" class="number">
                    Weight
                  </th>
                </tr>
              </thead>
              <tbody>
                {set.validators.map(({ index, publicKey, adnl, weight }) => (
                  <tr key={index}>
                    <td>{index}</td>
                    <td>
                      <HashText hash={publicKey} what="public key" />
                    </td>
                    <td>{adnl === null ? '–' : <HashText hash={adnl} what="ADNL address" />}</td>
                    <td class="number">{weightText(weight, set.totalWeight)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </TableFrame>
        </Section>
      ))}
    </>
  );
}

/** Share of the whole weight in per cent, with two decimals. */
function weightText(weight: bigint, total: bigint): string {
  if (total === 0n) return '–';
  const hundredths = (weight * 10_000n) / total;
  return `${hundredths / 100n}.${(hundredths % 100n).toString().padStart(2, '0')}\u00a0%`;
}
