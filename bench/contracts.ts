import { nativeCodeOf } from '#domain/contracts/interface-registry.js';
import { getJettonData } from '#domain/contracts/interfaces/jetton-master.js';
import { runNatively } from '#domain/contracts/native-code.js';
import { readTokenContent } from '#domain/contracts/token-content.js';
import { readWallet } from '#domain/contracts/wallet.js';
import { Emulator } from '#drivers/tvm/emulator.js';
import { compileEmulator, EMULATOR } from '#drivers/tvm/emulator-binary.js';
import { readGetMethodOutput } from '#drivers/tvm/emulator-output.js';
import { getMethodParts, getMethodResult } from '#drivers/tvm/get-method.js';
import { EmulatorConfigCache } from '#drivers/tvm/shared-bocs.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { toBase64 } from '#kernel/bytes.js';
import { otherAccounts, type RecordedAccount, recordedAccounts } from '../test/support/contract-accounts.js';
import { nativeMethods } from '../test/support/native-comparison.js';
import { mainnetConfig } from '../test/support/tvm-contract.js';
import { detectionTable } from './contracts/detection.js';
import { contractListTables } from './contracts/lists.js';
import type { BenchCase } from './harness.js';
import type { BenchSuite } from './suite.js';

const TARGET = 100;
const MAX_GAS = 1_000_000;

/** The emulator in this thread, without the way to a worker and back: what the machine itself takes. */
class Machine {
  readonly #emulator: Emulator;
  readonly #config = new EmulatorConfigCache(1).get(mainnetConfig);

  private constructor(emulator: Emulator) {
    this.#emulator = emulator;
  }

  static async start(): Promise<Machine> {
    return new Machine(await Emulator.instantiate(await compileEmulator(), { maxConfigs: 2, maxBytes: 2 ** 30 }));
  }

  run({ code, data, address, utime: now, balance }: RecordedAccount, method: string, stack: VmStack): VmStack {
    const { config, ...parts } = {
      config: this.#config,
      ...getMethodParts({ code, data, address, now, balance, method, stack, config: mainnetConfig }, code, MAX_GAS),
    };
    const params = JSON.stringify({
      ...parts.params,
      code: toBase64(parts.code),
      data: toBase64(parts.data),
      libs: '',
      prev_blocks_info: '',
    });
    const output = this.#emulator.runGetMethod(params, toBase64(parts.stack), config.short ?? config.whole);
    const reply = readGetMethodOutput(output, false);
    if (reply.kind !== 'get-method' || reply.exitCode !== 0) throw new Error(`${method} of ${address} failed`);
    return getMethodResult(reply).stack;
  }
}

function accountOf(kind: string): RecordedAccount {
  const found = [...recordedAccounts, ...otherAccounts].find((account) => account.kind === kind);
  if (found === undefined) throw new Error(`there is no ${kind} among the recorded accounts`);
  return found;
}

function nativeCase(machine: Machine, kind: string, name: string): BenchCase {
  const account = accountOf(kind);
  const method = nativeMethods(account).find((one) => one.method === name);
  if (method?.native() == null) throw new Error(`${name} of a ${kind} is not read natively`);
  return {
    name: `${name} of a ${kind}`,
    unit: 'reads',
    work: 1,
    target: TARGET,
    ours: method.native,
    baseline: () => method.parse(machine.run(account, name, method.stack)),
  };
}

export const suite: BenchSuite = {
  name: 'contracts',
  baseline: `get methods in the virtual machine (global version ${EMULATOR.global_version}), without a change of thread`,
  async cases() {
    const machine = await Machine.start();
    const wallet = accountOf('wallet_v4r2');
    const master = accountOf('jetton_master_v1');
    const read = runNatively(nativeCodeOf(master.code), master, getJettonData, []);
    if (read === null) throw new Error('a jetton master is not read natively');
    const { jetton_content } = read.result;
    return [
      nativeCase(machine, 'jetton_wallet_v1', 'get_wallet_data'),
      nativeCase(machine, 'jetton_wallet_jetton2', 'get_wallet_data'),
      nativeCase(machine, 'jetton_master_v1', 'get_jetton_data'),
      nativeCase(machine, 'jetton_master_notcoin', 'get_jetton_data'),
      nativeCase(machine, 'jetton_master_v1', 'get_wallet_address'),
      nativeCase(machine, 'jetton_master_jetton2', 'get_wallet_address'),
      nativeCase(machine, 'nft_item_v1', 'get_nft_data'),
      nativeCase(machine, 'nft_collection_v1', 'get_collection_data'),
      nativeCase(machine, 'nft_collection_v1', 'get_nft_address_by_index'),
      nativeCase(machine, 'dns_item', 'dnsresolve'),
      nativeCase(machine, 'getgems_sale_v3r3', 'get_sale_data'),
      nativeCase(machine, 'getgems_sale_v4r1', 'get_fix_price_data_v4'),
      nativeCase(machine, 'getgems_auction_v3r3', 'get_sale_data'),
      nativeCase(machine, 'getgems_auction_v4r1', 'get_auction_data_v4'),
      nativeCase(machine, 'telemint_item_username', 'get_telemint_token_name'),
      nativeCase(machine, 'multisig_v2', 'get_multisig_data'),
      nativeCase(machine, 'multisig_v2', 'get_order_address'),
      nativeCase(machine, 'wallet_vesting', 'get_vesting_data'),
      nativeCase(machine, 'nominator_pool', 'get_pool_data'),
      nativeCase(machine, 'dedust_pool', 'get_assets'),
      {
        name: 'seqno of a wallet_v4r2',
        unit: 'reads',
        work: 1,
        target: TARGET,
        ours: () => readWallet(wallet.code, wallet.data),
        baseline: () => machine.run(wallet, 'seqno', []),
      },
      { name: 'on-chain content of a jetton', unit: 'reads', work: 1, ours: () => readTokenContent(jetton_content) },
    ];
  },
  tables: async () => [await detectionTable(), ...(await contractListTables())],
};
