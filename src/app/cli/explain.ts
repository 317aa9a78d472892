import { Command } from 'commander';
import type { CliEnvironment } from '#app/cli/environment.js';
import { cliErrors } from '#app/cli/errors.js';
import { AnsweredFacts, ApiSource, hashOf, traceFile, traceOfAnswer } from '#app/cli/explain-source.js';
import { explanation } from '#app/cli/explanation.js';
import { localnetUrl } from '#app/cli/localnet.js';
import { type Classification, classify } from '#domain/actions/classify.js';
import type { FactRequest, TraceFacts } from '#domain/actions/trace-facts.js';
import type { TraceInput } from '#domain/actions/trace-input.js';

interface ExplainOptions {
  readonly url?: string;
}

/** `tern explain`: what happened in a trace, and what almost did. */
export function explainCommand(environment: CliEnvironment): Command {
  return new Command('explain')
    .description('explain a trace: its messages, its actions, and why other patterns did not match')
    .argument('<trace>', 'hash of a trace, transaction or message, or a file with an answer of API v3 (method traces)')
    .option('--url <url>', 'URL of a service with API v3, for traces by hash and for what contracts are')
    .action(async (input: string, options: ExplainOptions, command: Command) => {
      const write = command.configureOutput().writeOut ?? ((text: string) => void process.stdout.write(text));
      const [, second] = command.args;
      if (second !== undefined) throw cliErrors.usage({ problem: `explain takes one trace; unexpected "${second}"` });
      const file = traceFile(input);
      const isOffline = file !== null && options.url === undefined;
      const source = isOffline ? null : new ApiSource(localnetUrl(options.url, environment));
      const trace = traceOfAnswer(file ?? (await traceByHash(input, source!)));
      const facts = new AnsweredFacts();
      const result = await classifyWithFacts(trace, facts, (wanted) => facts.load(wanted, source));
      write(explanation(trace, result));
      if (isOffline)
        write('\nWhat the contracts are is not known: set --url for jettons, NFTs and others that depend on it.\n');
    });
}

function traceByHash(input: string, source: ApiSource): Promise<unknown> {
  const hash = hashOf(input);
  if (hash === null) throw cliErrors.input({ argument: input, problem: 'is neither a file nor a hash' });
  return source.trace(hash);
}

/** Rounds of questions about contracts. */
const MAX_ROUNDS = 5;

async function classifyWithFacts(
  trace: TraceInput,
  facts: TraceFacts,
  load: (wanted: readonly FactRequest[]) => Promise<void>,
): Promise<Classification> {
  await load(trace.transactions.map(({ account: address }) => ({ address, what: 'contract' })));
  for (let round = 1; ; round++) {
    const result = classify(trace, facts);
    if (result.wanted.length === 0 || round === MAX_ROUNDS) return result;
    await load(result.wanted);
  }
}
