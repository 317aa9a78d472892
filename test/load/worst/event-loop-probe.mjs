// Loaded by `--import` into a Tern that is under load. Writes what its main thread sees of itself to the file that
// TERN_LOAD_PROBE names, a line of JSON for each interval:
// {"at": unix ms, "rss": bytes, "heap": bytes, "external": bytes, "buffers": bytes, "dropped": connections,
// "cpu": {"ran": ms, "waited": ms}, "stalls": [{"end": monotonic µs, "ms", "ran", "waited"}]}
// A stall is a tick of a timer that came late: how late by the clock, how long the thread ran meanwhile, and how long it
// waited for a processor, which is the machine's doing and not that of the code; both in milliseconds.
// With TERN_LOAD_PROFILE, SIGUSR2 starts a CPU profile of the main thread, and the next one writes it to the file of that name
// with a number.
import { appendFileSync, closeSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import process from 'node:process';
import { isMainThread } from 'node:worker_threads';

const TICK_MS = 5;
const LATE_MS = 10;
const REPORT_MS = 250;
const SAMPLING_US = 1_000;

const { TERN_LOAD_PROBE: file, TERN_LOAD_PROFILE: profileName } = process.env;

if (isMainThread && file !== undefined) watch(file);
if (isMainThread && profileName !== undefined) profileOnSignal(profileName);

/** @param {string} file */
function watch(file) {
  // Linux only: nanoseconds on a processor, and waiting for one.
  let schedule = -1;
  try {
    schedule = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  } catch {
    // Then a stall is as long as the clock says, whoever caused it.
  }
  const buffer = Buffer.alloc(128);
  /** @returns {[number, number]} */
  const scheduled = () => {
    if (schedule < 0) return [0, 0];
    const text = buffer.toString('latin1', 0, readSync(schedule, buffer, 0, 128, 0)).split(' ');
    return [Number(text[0]) / 1e6, Number(text[1]) / 1e6];
  };
  const monotonicUs = () => Number(process.hrtime.bigint() / 1000n);

  /** @type {{ end: number, ms: number, ran: number | null, waited: number | null }[]} */
  let stalls = [];
  let last = monotonicUs();
  let [ran, waited] = scheduled();
  let reported = last;
  setInterval(() => {
    const now = monotonicUs();
    const [nowRan, nowWaited] = scheduled();
    const late = (now - last) / 1000 - TICK_MS;
    if (late >= LATE_MS) {
      const known = schedule >= 0;
      stalls.push({ end: now, ms: late, ran: known ? nowRan - ran : null, waited: known ? nowWaited - waited : null });
    }
    if (now - reported >= REPORT_MS * 1000) {
      reported = now;
      const { rss, heapTotal: heap, external, arrayBuffers: buffers } = process.memoryUsage();
      const cpu = { ran: nowRan, waited: nowWaited };
      const reading = { at: Date.now(), rss, heap, external, buffers, dropped: droppedConnections(), cpu, stalls };
      appendFileSync(file, `${JSON.stringify(reading)}\n`);
      stalls = [];
    }
    last = monotonicUs();
    [ran, waited] = scheduled();
  }, TICK_MS).unref();
  process.once('exit', () => {
    if (schedule >= 0) closeSync(schedule);
  });
}

/** Connections that the kernel has dropped since it started, because too many waited to be accepted. Linux only. */
function droppedConnections() {
  try {
    const [names, values] = readFileSync('/proc/net/netstat', 'latin1')
      .split('\n')
      .filter((line) => line.startsWith('TcpExt:'))
      .map((line) => line.split(' '));
    return Number(values?.[names?.indexOf('ListenDrops') ?? -1] ?? 0);
  } catch {
    return 0;
  }
}

/** @param {string} name */
function profileOnSignal(name) {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: SAMPLING_US });
  let count = 0;
  let isRunning = false;
  process.on('SIGUSR2', () => {
    isRunning = !isRunning;
    if (isRunning) {
      session.post('Profiler.start');
      return;
    }
    session.post('Profiler.stop', (error, result) => {
      if (error === null) writeFileSync(`${name}.${count++}`, JSON.stringify(result.profile));
    });
  });
}
