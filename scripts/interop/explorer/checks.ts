// node --conditions=source --import tsx scripts/interop/explorer/checks.ts CHROMIUM [all]: see run.mjs.
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { buildWeb } from '../../build-web.mjs';
import { CheckReport } from '../check-report.js';
import { LocalNetwork } from '../localnet/local-network.js';
import { jettonScenarios } from '../localnet/scenarios/jetton-scenarios.js';
import { messageScenarios } from '../localnet/scenarios/message-scenarios.js';
import { multisigScenarios } from '../localnet/scenarios/multisig-scenarios.js';
import { nftScenarios } from '../localnet/scenarios/nft-scenarios.js';
import { Stage } from '../localnet/scenarios/stage.js';
import { checkBudgets } from './budget-checks.js';
import { checkHostile } from './hostile-checks.js';
import { checkHostileMetadata } from './hostile-metadata-checks.js';
import { checkNewcomer } from './newcomer-checks.js';
import { checkOutages } from './outage-checks.js';
import {
  ALL_APPEARANCES,
  CHANGING_PAGES,
  checkPages,
  commonPages,
  pagesOfContent,
  TWO_APPEARANCES,
} from './page-checks.js';
import { checkValues } from './value-checks.js';
import { WatchedBrowser } from './watched-browser.js';

const [command, extent] = process.argv.slice(2);
if (command === undefined) throw new Error('wanted: the command of a Chromium');

const appearances = extent === 'all' ? ALL_APPEARANCES : TWO_APPEARANCES;

/** Screenshots are kept where they are asked for. */
const pictures = process.env.TERN_PICTURES ?? null;
const folder = (name: string) => (pictures === null ? null : join(pictures, name));

const report = new CheckReport((line) => process.stdout.write(`${line}\n`));
await buildWeb(fileURLToPath(new URL('../../../dist/web', import.meta.url)));
const network = await LocalNetwork.start();
const browser = await WatchedBrowser.start(command, network.url);
try {
  process.stdout.write('\nthe explorer on an empty chain\n');
  await checkPages(
    browser,
    [...commonPages(), ...(await pagesOfContent(network.url))],
    appearances,
    folder('empty'),
    report,
  );
  await checkBudgets(browser, report);
  process.stdout.write('\nthe path of a newcomer\n');
  await checkNewcomer(browser, network, report);
  process.stdout.write('\nthe explorer after activity\n');
  const stage = new Stage(network);
  await report.check('activity', async () => {
    await Promise.all([messageScenarios(stage), jettonScenarios(stage), nftScenarios(stage), multisigScenarios(stage)]);
    return `${stage.sent.length} messages`;
  });
  const again = commonPages().filter(({ name }) => extent === 'all' || CHANGING_PAGES.includes(name));
  const pages = [...again, ...(await pagesOfContent(network.url))];
  await checkPages(browser, pages, appearances, folder('full'), report);
  await checkValues(browser, network.url, report);
  await checkHostile(browser, network, report);
  await checkHostileMetadata(browser, network.url, report);
  await checkOutages(browser, network, report);
} catch (error) {
  await report.check('explorer', () => Promise.reject(error));
} finally {
  await browser.close();
  await network.close();
}
process.stdout.write(`\n${report.summary}\n`);
if (report.failed > 0) process.exitCode = 1;
