import process from 'node:process';
import { Command } from 'commander';
import { cliErrors } from '#app/cli/errors.js';
import { type ServerLook, topFigures, topScreen } from '#app/cli/top-screen.js';
import { pause, systemClock } from '#kernel/clock.js';
import { prometheusSamples } from '#kernel/prometheus-text.js';
import { isTernError } from '#kernel/tern-error.js';

interface TopOptions {
  readonly url: string;
  readonly interval: string;
  readonly once?: boolean;
  readonly json?: boolean;
}

/** Clear the screen from the top left corner on. */
const HOME = '\u001b[H\u001b[2J';

const LONGEST_SECONDS = 3_600;
const ASK_MS = 10_000;

/** `tern top`: the figures of a running server, again and again, also after it was away. Ends with Ctrl-C. */
export function topCommand(): Command {
  return new Command('top')
    .description('show live figures of a running server: blocks, index, liteservers, requests, memory')
    .option('-u, --url <url>', 'the server', 'http://127.0.0.1:8081')
    .option('-i, --interval <seconds>', 'time between two looks', '2')
    .option('--once', 'look twice, one interval apart, print once, and end')
    .option('--json', 'one JSON object per look instead of a screen')
    .action(async (options: TopOptions, command: Command) => {
      const {
        writeOut: write = (text: string) => void process.stdout.write(text),
        writeErr = (text: string) => void process.stderr.write(text),
      } = command.configureOutput();
      const seconds = Number(options.interval);
      if (!(seconds >= 0.1 && seconds <= LONGEST_SECONDS)) {
        const problem = `--interval is "${options.interval}"; accepted: seconds from 0.1 to ${LONGEST_SECONDS}`;
        throw cliErrors.usage({ problem });
      }
      const url = serverUrl(options.url);
      const isScreen = options.json !== true && options.once !== true && process.stdout.isTTY === true;
      let before = await lookAt(url);
      let latest = before;
      for (;;) {
        await pause(seconds * 1_000, systemClock);
        let now: Look;
        try {
          now = await lookAt(url);
        } catch (error) {
          if (options.once === true || !isTernError(error)) throw error;
          const line = `${error.message}; trying again\n`;
          if (isScreen) write(`${HOME}${line}`);
          else writeErr(line);
          continue;
        }
        // A server reads its metrics anew at most once per second, a busy one less often: rates need two readings.
        if (now.metrics !== latest.metrics) {
          before = latest;
          latest = now;
        } else if (latest === before && options.once === true) {
          continue;
        }
        const figures = topFigures({ ...latest, networks: now.networks }, before);
        if (options.json === true) write(`${JSON.stringify(figures)}\n`);
        else write(`${isScreen ? HOME : ''}${topScreen(url, figures)}`);
        if (options.once === true) return;
      }
    });
}

/** @throws cli/usage */
function serverUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw cliErrors.usage({ problem: `--url is "${text}"; accepted: http://HOST:PORT` });
  }
  return url.href.replace(/\/$/, '');
}

interface Look extends ServerLook {
  /** The text that the samples were read from. */
  readonly metrics: string;
}

/** @throws cli/no-server-at */
async function lookAt(url: string): Promise<Look> {
  const refused = (problem: string, cause?: unknown) => cliErrors['no-server-at']({ url, problem }, cause);
  let answers: readonly [Response, Response];
  let networks: ServerLook['networks'] | undefined;
  let metrics: string;
  try {
    const signal = AbortSignal.timeout(ASK_MS);
    answers = await Promise.all([fetch(`${url}/readyz`, { signal }), fetch(`${url}/metrics`, { signal })]);
    ({ networks } = (await answers[0].json()) as { readonly networks?: ServerLook['networks'] });
    metrics = await answers[1].text();
  } catch (error) {
    const { code } = (error as { readonly cause?: { readonly code?: string } }).cause ?? {};
    throw refused(code ?? (error as Error).message, error);
  }
  const [, { ok, status }] = answers;
  if (networks === undefined || !ok) throw refused(`its /metrics has status ${status}`);
  return { atMs: systemClock.now(), networks, samples: prometheusSamples(metrics), metrics };
}
