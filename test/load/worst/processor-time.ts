import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts processor time in hundredths of a second for programs. */
const MS_PER_TICK = 10;

/** Processor time of everybody since some time, in milliseconds; empty where the system does not tell it. */
export type ProcessorTime = ReadonlyMap<string, number>;

/** Who is counted: the processes of a name. */
export type Counted = Readonly<
  Record<string, (process: { readonly pid: number; readonly command: string }) => boolean>
>;

const IDLE = 'idle';
const STOLEN = 'stolen by other machines';
const OTHERS = 'other programs';

/** Who used the processors from a moment on. Linux only. */
export class ProcessorWatch {
  readonly #counted: Counted;
  readonly #before: ReadonlyMap<string, number>;

  constructor(counted: Counted) {
    this.#counted = counted;
    this.#before = this.#read();
  }

  /** Until now: of those who are counted, of all other programs, and the time that nobody used. */
  get times(): ProcessorTime {
    const now = this.#read();
    return new Map([...now].map(([name, ms]) => [name, ms - (this.#before.get(name) ?? 0)]));
  }

  #read(): ReadonlyMap<string, number> {
    const times = new Map(Object.keys(this.#counted).map((name) => [name, 0]));
    try {
      let known = 0;
      for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
        const ms = timeOf(pid);
        const name = ms === 0 ? undefined : this.#nameOf(Number(pid));
        if (name === undefined) continue;
        times.set(name, times.get(name)! + ms);
        known += ms;
      }
      const [user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0, stolen = 0] = /^cpu +(.*)$/m
        .exec(readFileSync('/proc/stat', 'latin1'))![1]!
        .split(' ')
        .map((each) => Number(each) * MS_PER_TICK);
      times.set(OTHERS, user + nice + system + irq + softirq - known);
      times.set(IDLE, idle + waiting);
      times.set(STOLEN, stolen);
    } catch {
      times.clear();
    }
    return times;
  }

  #nameOf(pid: number): string | undefined {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
      return Object.keys(this.#counted).find((name) => this.#counted[name]!({ pid, command }));
    } catch {
      return undefined;
    }
  }
}

/** Of a process with all its threads; 0 when it has gone. */
function timeOf(pid: string): number {
  try {
    // The name of the program, in parentheses, may have blanks.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
  } catch {
    return 0;
  }
}
