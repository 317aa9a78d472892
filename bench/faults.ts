import type { DisturbanceCase, DisturbedSubject } from './disturbance.js';
import { PeerProcess } from './faults/peer-process.js';
import type { ClientCommand, FaultName, ServerSpec, ServersCommand } from './faults/protocol.js';
import type { BenchSuite } from './suite.js';

const IN_FLIGHT = 12;
/** While one of three servers is sick, p99 moves by less than 20 %. */
const TARGET = 1.2;

const faults: readonly FaultName[] = [
  'nothing',
  'stalls',
  'resets',
  'resets now and then',
  'drips',
  'sends garbage',
  'is ten times as slow',
];

/** Three servers, and a pool that asks them; each in a process of its own. */
class Side {
  readonly #servers = new PeerProcess<ServersCommand>('servers.ts');
  readonly #client = new PeerProcess<ClientCommand>('client.ts');

  async open(): Promise<void> {
    const open = await this.#servers.tell<readonly ServerSpec[]>('heal');
    await this.#client.tell({ open });
  }

  sample(sampleMs: number): Promise<readonly number[]> {
    return this.#client.tell({ sampleMs, inFlight: IN_FLIGHT });
  }

  async disturb(fault: FaultName): Promise<void> {
    await this.#servers.tell({ fault });
  }

  async closePool(): Promise<void> {
    await this.#client.tell('close');
  }

  async end(): Promise<void> {
    await Promise.all([this.#servers.close(), this.#client.close()]);
  }
}

let sides: readonly Side[] = [];

export const suite: BenchSuite = {
  name: 'faults',
  cases: () => [],
  disturbances() {
    const [usual, disturbed] = [new Side(), new Side()];
    sides = [usual, disturbed];
    return faults.map(
      (fault): DisturbanceCase => ({
        name: fault === 'nothing' ? 'nothing is wrong' : `one of three ${fault}`,
        unit: 'reads',
        inFlight: IN_FLIGHT,
        target: TARGET,
        open: () => open(usual, disturbed, fault),
      }),
    );
  },
  close: async () => {
    await Promise.all(sides.map((side) => side.end()));
  },
};

async function open(usual: Side, disturbed: Side, fault: FaultName): Promise<DisturbedSubject> {
  await Promise.all([usual.open(), disturbed.open()]);
  return {
    sample: async (ms) => {
      const [a, b] = await Promise.all([usual.sample(ms), disturbed.sample(ms)]);
      return { usual: a, disturbed: b };
    },
    disturb: () => disturbed.disturb(fault),
    close: async () => {
      await Promise.all([usual.closePool(), disturbed.closePool()]);
    },
  };
}
