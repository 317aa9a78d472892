import type { ChainTruth } from './chain-truth.js';
import type { CheckReport } from './check-report.js';
import { type Question, questionsOf, type RecordedAnswer } from './recorded-answers.js';
import { differences } from './same-answer.js';
import type { JsonObject, TonlibSession } from './tonlib-session.js';

/** How far the chain of the answering server reached: not the same when it was recorded. */
const REACH = / \(last known masterchain block: \d+\)/;

/** tonlib over this server answers what it answered over the reference liteserver, when asked about the same blocks. */
export async function checkRecorded(
  tonlib: TonlibSession,
  recorded: readonly RecordedAnswer[],
  truth: ChainTruth,
  report: CheckReport,
): Promise<void> {
  const questions = questionsOf(recorded);
  const isContract = ({ check }: Question): boolean => check.startsWith('smc: ');
  const others = questions.filter((question) => !isContract(question));
  for (const name of new Set(others.map(({ check }) => check))) {
    const asked = others.filter(({ check }) => check === name);
    await report.check(`as recorded: ${name}`, () => askAll(tonlib, asked, truth));
  }
  // The functions of one contract belong together: they name it by the number that its loading gave.
  const contracts = questions.filter(isContract);
  await report.check('as recorded: contracts loaded, their cells, their get-methods', () =>
    askContracts(tonlib, contracts),
  );
}

async function askAll(tonlib: TonlibSession, questions: readonly Question[], truth: ChainTruth): Promise<string> {
  let sameTime = 0;
  for (const question of questions) {
    const answer = await tonlib.ask(question.request);
    const found = differences(plain(question.expected), plain(answer));
    if (found.length === 0) continue;
    if (!ofSameTime(question, answer, truth)) throw different(question, found);
    sameTime++;
  }
  const note = sameTime === 0 ? '' : `, ${sameTime} of them with an earlier block of the same second`;
  return `${questions.length} answers${note}`;
}

async function askContracts(tonlib: TonlibSession, questions: readonly Question[]): Promise<string> {
  const ids = new Map<unknown, number>();
  let methods = 0;
  for (const question of questions) {
    const { request, expected } = question;
    const id = ids.get(request.id);
    const answer = await tonlib.ask(id === undefined ? request : { ...request, id });
    if (answer['@type'] === 'smc.info') ids.set(expected.id, answer.id as number);
    const found = differences(plain(expected), plain(answer), answer['@type'] === 'smc.info' ? ['id'] : []);
    if (found.length > 0) throw different(question, found);
    if (request['@type'] === 'smc.runGetMethod') methods++;
  }
  return `${questions.length} answers, ${methods} of them of get-methods, gas included`;
}

function different({ n, desc, check }: Question, found: readonly string[]): Error {
  return new Error(`exchange ${n} (${check}, ${desc}): expected and found differ: ${found.slice(0, 3).join('; ')}`);
}

/** An answer without what another server, or a client that has asked other things before, may give otherwise. */
function plain(answer: JsonObject): JsonObject {
  if (typeof answer.message === 'string') return { ...answer, message: answer.message.replace(REACH, '') };
  if (answer['@type'] !== 'smc.libraryResult') return answer;
  // Libraries that tonlib has kept from an earlier question come first.
  const result = [...(answer.result as readonly JsonObject[])];
  return { ...answer, result: result.sort((a, b) => (String(a.hash) < String(b.hash) ? -1 : 1)) };
}

/**
 * Of several blocks of one second, the reference server gives the one that its search meets; the first is right as well,
 * and is what this server gives.
 */
function ofSameTime({ request, expected }: Question, answer: JsonObject, { masterchain, shards }: ChainTruth): boolean {
  if (request['@type'] !== 'blocks.lookupBlock' || request.mode !== 4) return false;
  const timeOf = ({ root_hash }: JsonObject): number | undefined => {
    const hash = Buffer.from(String(root_hash), 'base64');
    return [...masterchain, ...shards].find(({ id }) => hash.equals(id.root_hash))?.gen_utime;
  };
  const time = timeOf(answer);
  return time !== undefined && time === timeOf(expected) && (answer.seqno as number) < (expected.seqno as number);
}
