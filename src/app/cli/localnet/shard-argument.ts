import { cliErrors } from '#app/cli/errors.js';
import type { LocalnetAnswer, LocalnetClient } from '#app/cli/localnet/localnet-client.js';
import { blockText } from '#app/cli/localnet/texts.js';

/** A shard for the control API. */
interface ShardParameters {
  readonly shard: string;
  readonly workchain?: number;
}

/**
 * `8000000000000000` or `0:8000000000000000`; without a text, the only shard that can be meant.
 * @throws cli/usage when there are several; and as the client
 */
export async function shardArgument(
  what: 'split' | 'merge',
  text: string | undefined,
  client: LocalnetClient,
): Promise<ShardParameters> {
  if (text !== undefined) {
    const match = /^(\d{1,3}):(.*)$/.exec(text);
    return match === null ? { shard: text } : { workchain: Number(match[1]), shard: match[2]! };
  }
  const shards: readonly LocalnetAnswer[] = (await client.get('status')).shards;
  const [first] = shards;
  if (first !== undefined && shards.length === (what === 'split' ? 1 : 2)) return { shard: first.shard };
  const list = shards.map(blockText).join(' ');
  throw cliErrors.usage({ problem: `tern localnet ${what} needs to be told which of the shards is meant: ${list}` });
}
