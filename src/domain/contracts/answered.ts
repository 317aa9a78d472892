import { contractDataErrors } from '#domain/contracts/errors.js';
import { isTernError } from '#kernel/errors/tern-error.js';

const ABOUT_CONTRACT = /^(contract-data|cells|tlb|address)\//;

/** Whether an error says something of the contract that was asked, not that it could not be asked. */
export function isAboutContract(error: unknown): error is Error {
  return isTernError(error) && ABOUT_CONTRACT.test(error.code);
}

/** What was read; null when the contract answers in another way, or not at all. */
export async function ifAnswered<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (isAboutContract(error)) return null;
    throw error;
  }
}

/** What was read; null when the contract has no such get method, or that ends with an error. */
export async function unlessFailed<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (isTernError(error, 'contract-data/method-failed')) return null;
    throw error;
  }
}

/** What a contract says of itself, and who has to agree. */
export interface Claim {
  /** `jetton_wallet` */
  readonly kind: string;
  /** Raw addresses. */
  readonly address: string;
  readonly by: string;
}

/**
 * Whether another contract agrees with what one says of itself.
 *
 * @throws contract-data/not-verified when it does not, or does not answer
 */
export async function verify(claim: Claim, agrees: () => Promise<boolean>): Promise<void> {
  let problem = 'says something else';
  try {
    if (await agrees()) return;
  } catch (error) {
    if (!isAboutContract(error)) throw error;
    problem = `does not answer: ${error.message}`;
  }
  throw contractDataErrors['not-verified']({ ...claim, problem });
}
