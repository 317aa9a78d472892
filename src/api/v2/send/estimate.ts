import type { V2Context } from '#api/v2/context.js';
import { headerText } from '#api/v2/header-text.js';
import type { QueryFees } from '#api/v2/schemas/send.js';
import type { MessageParts } from '#api/v2/send/build-message.js';
import { queryFees } from '#api/v2/send/results.js';

/** The header that says why the real fees may differ from the estimate. */
const HEADER = 'X-Tern-Fee-Estimate';

interface FeeParameters extends MessageParts {
  /** Default: every signature counts as right. */
  readonly ignore_chksig?: boolean | undefined;
}

/** @throws contracts/*, tvm/*, chain/*, lite/* */
export async function estimate(question: FeeParameters, { network, read, header }: V2Context): Promise<QueryFees> {
  const { address, body, init_code = null, init_data = null, ignore_chksig = true } = question;
  const parts = { address: address.address, body, init_code, init_data, ignore_chksig };
  const fees = await network.contracts.estimateFee(parts, read);
  if (fees.caveat !== null) header(HEADER, `approximate; reason=${headerText(fees.caveat)}`);
  return queryFees(fees);
}
