// node --conditions=source --import tsx scripts/interop/explorer/checks.ts CHROMIUM [all]: see run.mjs.
import { join } from 'node:path';
import process from 'node:process';
import { buildChangedWeb } from '../../build-web.mjs';
import { CheckReport } from '../check-report.js';
import { LocalNetwork } from '../localnet/local-network.js';
import { jettonScenarios } from '../localnet/scenarios/jetton-scenarios.js';
import { messageScenarios } from '../localnet/scenarios/message-scenarios.js';
import { multisigScenarios } from '../localnet/scenarios/multisig-scenarios.js';
import { nftScenarios } from '../localnet/scenarios/nft-scenarios.js';
import { Stage } from '../localnet/scenarios/stage.js';
import { checkAges } from './age-checks.js';
import { checkBudgets } from './budget-checks.js';
import { drawContactSheet } from './contact-sheets.js';
import { addContents } from './contents.js';
import { checkHostile } from './hostile-checks.js';
import { checkHostileDocuments, checkHostileTokens } from './hostile-token-checks.js';
import { checkKeyboard } from './keyboard-checks.js';
import { checkNewcomer } from './newcomer-checks.js';
import { checkOutages } from './outage-checks.js';
import {
  ALL_APPEARANCES,
  CHANGING_PAGES,
  checkPages,
  commonPages,
  EMPTY_PAGES,
  ONLY_IN_ALL,
  pagesOfContent,
  pagesOfContents,
  requirePages,
  TWO_APPEARANCES,
} from './page-checks.js';
import { checkRecorded } from './recorded-checks.js';
import { checkServed } from './served-checks.js';
import { checkLongTrace } from './trace-checks.js';
import { checkTryOut } from './try-out-checks.js';
import { checkValues } from './value-checks.js';
import { checkWalk } from './walk-checks.js';
import { WatchedBrowser, WIDTHS } from './watched-browser.js';

const [command, extent] = process.argv.slice(2);
if (command === undefined) throw new Error('wanted: the command of a Chromium');

const isAll = extent === 'all';
/** Without `all` a desk and a phone in turn, so that the suite stays within three minutes. */
const appearances = isAll ? ALL_APPEARANCES : TWO_APPEARANCES;
const inTurn = !isAll;

/** Screenshots are kept where they are asked for. */
const pictures = process.env.TERN_PICTURES ?? null;
const folder = (name: string) => (pictures === null ? null : join(pictures, name));

const began = performance.now();
const report = new CheckReport((line) => process.stdout.write(`${line}\n`));
const part = (name: string) =>
  process.stdout.write(`\n${name} (after ${((performance.now() - began) / 1000).toFixed(0)} s)\n`);
await buildChangedWeb();
const network = await LocalNetwork.start();
const browsers: WatchedBrowser[] = [];

/** A browser of its own: what a page must not do is noted for each. */
async function openBrowser(): Promise<WatchedBrowser> {
  const browser = await WatchedBrowser.start(command!, network.url);
  browsers.push(browser);
  return browser;
}

try {
  const [browser, other] = await Promise.all([openBrowser(), openBrowser()]);
  part('the explorer on an empty chain');
  const empty = commonPages().filter(({ name }) => isAll || EMPTY_PAGES.includes(name));
  await checkPages(browser, empty, { appearances, inTurn, pictures: folder('empty') }, report);
  await checkBudgets(browser, report);
  part('the path of a newcomer');
  await checkNewcomer(browser, network, report);
  part('the explorer after activity');
  const stage = new Stage(network);
  await report.check('activity', async () => {
    await Promise.all([messageScenarios(stage), jettonScenarios(stage), nftScenarios(stage), multisigScenarios(stage)]);
    return `${stage.sent.length} messages`;
  });
  const look = { appearances, inTurn, pictures: folder('full') };
  const changing = commonPages().filter(({ name }) => CHANGING_PAGES.includes(name));
  // Before the long trace: it is the newest of all, and nothing is known of what it did.
  await checkPages(browser, changing, look, report);
  const ofActivity = requirePages(await pagesOfContent(network.url));
  const contents = await addContents(network);
  const others = commonPages().filter(
    ({ name }) => !CHANGING_PAGES.includes(name) && (isAll || !EMPTY_PAGES.includes(name)),
  );
  const pages = [...others, ...ofActivity, ...pagesOfContents(contents)];
  const looked = pages.filter(({ name }) => isAll || !ONLY_IN_ALL.includes(name));
  part('pages, values, an index that begins late, and keys');
  await Promise.all([
    checkPages(browser, looked, look, report),
    checkValues(other, network.url, report).then(() => checkWalk(other, network.url, contents, report)),
    checkServed(command, network, report),
  ]);
  part('what time matters to');
  await checkAges(browser, report);
  await checkKeyboard(browser, contents.vesting, report);
  await checkTryOut(browser, report);
  await checkLongTrace(browser, contents.longTrace, isAll, report);
  part('hostile content');
  const widths = isAll ? WIDTHS : WIDTHS.slice(-1);
  await Promise.all([
    checkHostile(browser, network, report),
    checkHostileDocuments(other, network.url, widths, report).then(() =>
      checkHostileTokens(other, network, widths, report),
    ),
  ]);
  const full = folder('full');
  if (isAll && full !== null) {
    for (const each of appearances) {
      await report.check('all pages in one picture', () => drawContactSheet(browser, full, each));
    }
  }
  part('outages');
  await checkOutages(browser, network, report);
  if (isAll) {
    part('a recorded chain');
    await checkRecorded(command, appearances, folder('recorded'), report);
  }
} catch (error) {
  await report.check('explorer', () => Promise.reject(error));
} finally {
  await Promise.all(browsers.map((each) => each.close()));
  await network.close();
}
part(report.summary);
if (report.failed > 0) process.exitCode = 1;
