"""Pays with a jetton through the package x402 (scheme exact, network TVM) on a running local network.

The package estimates a payment and verifies it by /api/emulate/v1/emulateTrace, follows the account of the facilitator by
/api/streaming/v2/sse, and reads accounts, get-methods and traces of /api/v3.

python x402_payment_checks.py URL FOLDER: FOLDER has the code of a stablecoin (StablecoinMaster.boc, StablecoinWallet.boc).
Prints one JSON object a line, {"name", "ok", "detail"}.
"""

import base64
import json
import sys
import time
from pathlib import Path

import httpx
from nacl.signing import SigningKey
from pytoniq_core import Address, Cell, begin_cell
from pytoniq_core.tlb.account import StateInit
from x402.mechanisms.tvm.codecs.w5 import build_w5r1_state_init
from x402.mechanisms.tvm.constants import (
    DEFAULT_TVM_EMULATION_ADDRESS,
    DEFAULT_TVM_EMULATION_SEQNO,
    DEFAULT_TVM_EMULATION_WALLET_ID,
    TVM_TESTNET,
    W5R1_CODE_HEX,
)
from x402.mechanisms.tvm.exact.client import ExactTvmScheme as Payer
from x402.mechanisms.tvm.exact.facilitator import ExactTvmScheme as Facilitator
from x402.mechanisms.tvm.signers import (
    FacilitatorHighloadV3Signer,
    HighloadV3Config,
    WalletV5R1Config,
    WalletV5R1MnemonicSigner,
)
from x402.schemas import PaymentPayload, PaymentRequirements

URL, FOLDER = sys.argv[1], Path(sys.argv[2])
PRICE = 2_500
MINTED = 10_000
TON = 10**9
ADMIN = Address("0:" + "a1" * 32)
SELLER = "0:" + "5e" * 32

http = httpx.Client(base_url=URL, timeout=30)


def same(expected, found, what):
    if expected != found:
        raise AssertionError(f"{what}: expected {expected!r}, found {found!r}")


def control(method, **params):
    answer = http.post(f"/localnet/{method}", json=params)
    if answer.status_code != 200:
        raise AssertionError(f"{method}: {answer.text}")
    return answer.json()


def base64_of(cell):
    return base64.b64encode(cell.to_boc()).decode()


def code_of(name):
    return Cell.one_from_boc((FOLDER / f"{name}.boc").read_bytes())


def raw(address):
    return address.to_str(is_user_friendly=False)


def mint_jetton(holder):
    """Deploys a stablecoin, with all of it in the wallet of this holder."""
    content = begin_cell().store_string("https://localhost/jetton.json").end_cell()
    data = begin_cell().store_coins(0).store_address(ADMIN).store_address(None)
    data = data.store_ref(code_of("StablecoinWallet")).store_ref(content).end_cell()
    init = StateInit(code=code_of("StablecoinMaster"), data=data).serialize()
    minter = Address((0, init.hash))
    transfer = begin_cell().store_uint(0x178D4519, 32).store_uint(1, 64).store_coins(MINTED)
    transfer = transfer.store_address(minter).store_address(ADMIN).store_coins(0).store_bit(0).end_cell()
    body = begin_cell().store_uint(0x642B7D07, 32).store_uint(1, 64).store_address(Address(holder)).store_coins(TON // 10)
    body = body.store_ref(transfer).end_cell()
    parts = {"amount": str(3 * TON), "body": base64_of(body), "init": base64_of(init)}
    control("impersonate", **{"from": raw(ADMIN)}, to=raw(minter), **parts)
    return raw(minter)


def prepare_estimates():
    """Estimates are sent through a wallet of the package that exists on mainnet; its signature is not checked."""
    data = begin_cell().store_uint(1, 1).store_uint(DEFAULT_TVM_EMULATION_SEQNO, 32)
    data = data.store_uint(DEFAULT_TVM_EMULATION_WALLET_ID, 32).store_bytes(bytes(32)).store_bit(0).end_cell()
    code = base64.b64encode(bytes.fromhex(W5R1_CODE_HEX)).decode()
    control(
        "account", address=DEFAULT_TVM_EMULATION_ADDRESS, balance=str(10 * TON), code=code, data=base64_of(data)
    )


def until(ask):
    for _ in range(200):
        found = ask()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it did not come")


def jettons_of(owner, minter):
    params = {"owner_address": owner, "jetton_address": minter}
    answer = http.get("/api/v3/jetton/wallets", params=params)
    same(200, answer.status_code, f"status of {answer.text}")
    found = answer.json()["jetton_wallets"]
    return int(found[0]["balance"]) if found else 0


class Stage:
    def __init__(self):
        prepare_estimates()
        config = WalletV5R1Config.from_private_key(TVM_TESTNET, SigningKey.generate().encode())
        config.provider_base_url = URL
        self.buyer = WalletV5R1MnemonicSigner(config)
        self.payer = Payer(self.buyer)
        highload = HighloadV3Config.from_private_key(SigningKey.generate().encode())
        highload.provider_base_url = URL
        self.relay = FacilitatorHighloadV3Signer({TVM_TESTNET: highload})
        self.facilitator = Facilitator(self.relay, batch_flush_interval_seconds=0.1)
        [relay] = self.relay.get_addresses()
        control("faucet", address=relay, amount=str(20 * TON))
        self.minter = mint_jetton(self.buyer.address)
        until(lambda: jettons_of(self.buyer.address, self.minter) == MINTED)

    def requirements(self, **other):
        wanted = {"scheme": "exact", "network": TVM_TESTNET, "asset": self.minter, "amount": str(PRICE)}
        extra = {"areFeesSponsored": True}
        return PaymentRequirements(**{**wanted, "pay_to": SELLER, "max_timeout_seconds": 300, "extra": extra, **other})

    def payment(self, requirements):
        payload = self.payer.create_payment_payload(requirements)
        return PaymentPayload(payload=payload, accepted=requirements)

    def close(self):
        self.relay.close()
        self.payer.close()


def check_payment(stage, paid_before):
    """A payment from the estimate to the jettons of the seller."""
    requirements = stage.requirements()
    payment = stage.payment(requirements)
    verified = stage.facilitator.verify(payment, requirements)
    same((True, None), (verified.is_valid, verified.invalid_message), "whether it is valid")
    settled = stage.facilitator.settle(payment, requirements)
    same((True, None), (settled.success, settled.error_message), "whether it is settled")
    found = http.get("/api/v3/transactions", params={"hash": settled.transaction}).json()["transactions"]
    same([stage.buyer.address], [each["account"].lower() for each in found], "account of the transaction")
    until(lambda: jettons_of(SELLER, stage.minter) == paid_before + PRICE)
    [relay] = stage.relay.get_addresses()
    return f"{PRICE} jettons by transaction {settled.transaction}, through {relay}"


def check_streamed(stage):
    """The facilitator hears from its stream that a payment is final, without asking for the trace."""
    [relay] = stage.relay.get_addresses()
    stream = stage.relay._streaming_client(TVM_TESTNET)
    seen = set(stream._recent_trace_results)
    traces = http.get("/api/v3/traces", params={"account": relay, "limit": 100}).json()["traces"]
    first = [each["transactions"][each["transactions_order"][0]] for each in traces]
    paid = [each["in_msg"]["hash_norm"] for each in first if each["account"].lower() == relay]
    same(2, len(paid), "traces that begin with the facilitator")
    same([], [each for each in paid if each not in seen], "traces that the stream did not bring")
    return f"{len(paid)} traces"


def check_poor(stage):
    """A payment of more than the buyer has fails in the estimate: the emulated wallet refuses it."""
    try:
        stage.payment(stage.requirements(amount=str(MINTED * 2)))
    except ValueError as error:
        return str(error)
    raise AssertionError("it was estimated")


def check_replay(stage):
    """A payment that was settled is not valid again: the seqno of the wallet is another."""
    requirements = stage.requirements()
    payment = stage.payment(requirements)
    same(True, stage.facilitator.settle(payment, requirements).success, "whether it is settled")
    again = stage.facilitator.verify(payment, requirements)
    same(False, again.is_valid, "whether it is valid again")
    return f"refused: {again.invalid_reason}"


def main():
    stage = Stage()
    checks = {
        "a payment of a wallet that is deployed by it": lambda: check_payment(stage, 0),
        "another payment of the same wallet": lambda: check_payment(stage, PRICE),
        "finalized traces over SSE": lambda: check_streamed(stage),
        "a payment beyond the balance": lambda: check_poor(stage),
        "a payment that is sent twice": lambda: check_replay(stage),
    }
    for name, check in checks.items():
        try:
            line = {"name": name, "ok": True, "detail": check()}
        except Exception as error:  # each check by itself: all of them are to be seen
            line = {"name": name, "ok": False, "detail": f"{type(error).__name__}: {error}"[:2000]}
        print(json.dumps(line), flush=True)
    stage.close()


main()
