"""Reads from a running Tern with the client of API v3 in the package pytoncenter, and compares with what the chain holds.

python pytoncenter_checks.py URL TRUTH.json: prints one JSON object a line, {"name", "ok", "detail"}.

The models of this client are of 2024: they take no transaction without an incoming message, and of decoded bodies only
comments. The truth is of transactions that it can take, but for those of bundles.
"""

import asyncio
import warnings
from datetime import datetime, timezone

from checking import arguments, raw, run_checks, same, same_block, same_message, same_transactions
from pytoncenter import get_client
from pytoncenter.address import Address
from pytoncenter.exception import TonCenterException, TonCenterValidationException
from pytoncenter.v3.models import (
    EstimateFeeRequest,
    ExternalMessage,
    GetAccountRequest,
    GetAddressBookRequest,
    GetAdjacentTransactionsRequest,
    GetBlockRequest,
    GetMasterchainBlockShardsRequest,
    GetMasterchainBlockShardStateRequest,
    GetMessageByHashRequest,
    GetMessagesRequest,
    GetMethodParameterInput,
    GetTransactionByHashRequest,
    GetTransactionByMasterchainBlockRequest,
    GetTransactionByMessageRequest,
    GetTransactionsRequest,
    GetTransactionTraceRequest,
    GetWalletRequest,
    RunGetMethodRequest,
    SubscribeTransactionRequest,
    WaitMessageExistsRequest,
)

ELECTOR = "-1:" + "3" * 64
# A bag of one empty cell.
EMPTY_CELL = "te6cckEBAQEAAgAAAEysuc0="


def at(utime):
    return datetime.fromtimestamp(int(utime), timezone.utc)


async def check_blocks(client, truth):
    info = await client.get_masterchain_info()
    same((truth["first_seqno"], truth["head_seqno"]), (info.first.seqno, info.last.seqno), "first and last block")
    for fact in truth["bundles"]:
        mc_seqno = fact["mc_seqno"]
        expected = {each["root_hash"]: each for each in fact["blocks"]}
        for include in (False, True):
            found = await client.get_masterchain_block_shards(
                GetMasterchainBlockShardsRequest(seqno=mc_seqno, include_mc_block=include)
            )
            wanted = {each for each in expected if include or expected[each]["workchain"] != -1}
            same(wanted, {each.root_hash for each in found}, f"blocks that {mc_seqno} commits, include_mc_block={include}")
            for block in found:
                same_block(expected[block.root_hash], block, mc_seqno)
        state = await client.get_masterchain_block_shard_state(GetMasterchainBlockShardStateRequest(seqno=mc_seqno))
        # Those of the zerostate are not indexed.
        tops = {(top["workchain"], top["seqno"]) for top in fact["tops"] if top["seqno"] > 0} | {(-1, mc_seqno)}
        same(tops, {(each.workchain, each.seqno) for each in state}, f"shards at {mc_seqno}")
        (block,) = [each for each in fact["blocks"] if each["workchain"] == -1]
        # Without a workchain other than 0 this client sends no shard.
        (found,) = await client.get_blocks(GetBlockRequest(workchain=-1, shard=block["shard"], seqno=block["seqno"]))
        same_block(block, found, mc_seqno)
        utime = at(block["gen_utime"])
        by_time = await client.get_blocks(GetBlockRequest(start_utime=utime, end_utime=utime, workchain=-1, sort="asc"))
        same(True, block["root_hash"] in [each.root_hash for each in by_time], f"block {mc_seqno} by its time")
    return f"blocks of {len(truth['bundles'])} bundles"


async def check_transactions(client, truth):
    history = truth["history"]
    account = truth.transaction(history[0])["account"]
    found, book = await client.get_transactions(GetTransactionsRequest(account=account))
    same_transactions(truth, history, found, "history")
    same(account, raw(next(each for each in book if raw(each) == account)), "account in the address book")
    third = truth.transaction(history[2])
    one, _ = await client.get_transactions(GetTransactionByHashRequest(hash=history[2]))
    same_transactions(truth, history[2:3], [one], "by hash")
    found, _ = await client.get_transactions(GetTransactionsRequest(account=account, lt=int(third["lt"])))
    same_transactions(truth, history[2:3], found, "by lt")
    found, _ = await client.get_transactions(
        GetTransactionsRequest(account=account, start_utime=at(third["now"]), end_utime=at(third["now"]), sort="asc")
    )
    same(True, history[2] in [each.hash for each in found], "by time")
    found, _ = await client.get_transactions(
        GetTransactionsRequest(account=account, start_lt=int(third["lt"]), sort="asc", limit=2, offset=1)
    )
    same_transactions(truth, history[1::-1], found, "a page from an lt on")
    found, _ = await client.get_transactions(GetTransactionsRequest(account=account, exclude_account=account))
    same([], found, "transactions of an excluded account")
    return f"{len(history)} of one account, six ways"


async def check_rounds(client, truth):
    """All bundles have transactions that this client cannot take: nothing else may be wrong."""
    seqno = truth["bundles"][0]["mc_seqno"]
    request = GetTransactionByMasterchainBlockRequest(seqno=seqno, limit=256, sort="asc")
    try:
        await client.get_transactions_by_masterchain_block(request)
    except ValueError as error:
        same(True, "in_msg" in str(error), f"that only in_msg is wrong: {error}")
        fields = [line for line in str(error).splitlines() if line.startswith("transactions.")]
        wrong = [each for each in fields if not each.endswith(".in_msg") and ".message_content.decoded." not in each]
        same([], wrong, "other fields that the client does not take")
        return "this client has no model for a transaction without in_msg; all other fields fit its models"
    raise AssertionError("the client read transactions without in_msg: compare them")


async def check_by_message(client, truth):
    fact = truth["messages"]["internal"]
    for direction, ends in (("in", truth["received_by"]), ("out", truth["sent_by"])):
        found, _ = await client.get_transaction_by_message(
            GetTransactionByMessageRequest(direction=direction, msg_hash=fact["hash"])
        )
        same([ends[fact["hash"]]], [each.hash for each in found], f"{direction} of a message")
    outside = truth["messages"]["external_in"]
    waited = [each async for each in client.wait_message_exists(WaitMessageExistsRequest(msg_hash=outside["hash"], interval=0.1, max_retry=3))]
    same([truth["received_by"][outside["hash"]]], [each.hash for each in waited], "transaction that was waited for")
    return "both ends, and one that was waited for"


async def check_messages(client, truth):
    for kind, fact in truth["messages"].items():
        found = await client.get_messages(GetMessageByHashRequest(hash=fact["hash"]))
        same_message(fact, found, kind)
        by_body = await client.get_messages(GetMessagesRequest(body_hash=fact["body_hash"]))
        same(True, fact["hash"] in [each.hash for each in by_body], f"{kind} message by its body")
    fact = truth["messages"]["internal"]
    found = await client.get_messages(
        GetMessagesRequest(source=fact["source"], destination=fact["destination"], body_hash=fact["body_hash"])
    )
    same(True, fact["hash"] in [each.hash for each in found], "message by its ends and body")
    same({(fact["source"], fact["destination"])}, {(each.source, each.destination) for each in found}, "ends")
    return f"{len(truth['messages'])} kinds"


async def check_adjacent(client, truth):
    fact = truth["adjacent"]
    found, _ = await client.get_adjacent_transactions(GetAdjacentTransactionsRequest(hash=fact["hash"], direction="in"))
    same_transactions(truth, [fact["before"]], found, "before")
    found, _ = await client.get_adjacent_transactions(GetAdjacentTransactionsRequest(hash=fact["hash"]))
    same(sorted([fact["before"], *fact["after"]]), sorted(each.hash for each in found), "before and after")
    lts = [each.lt for each in found]
    same(sorted(lts, reverse=True), lts, "falling order")
    # Pages of five, until one is not full.
    found, _ = await client.get_adjacent_transactions(
        GetAdjacentTransactionsRequest(hash=fact["hash"], direction="out", sort="asc", limit=5, full=True)
    )
    same(sorted(fact["after"]), sorted(each.hash for each in found), "all pages after")
    lts = [each.lt for each in found]
    same(sorted(lts), lts, "rising order")
    return f"1 before, {len(fact['after'])} after, in pages"


async def check_trace(client, truth):
    for fact in truth["traces"]:
        hashes = fact["transactions"]
        trace = await client.get_trace_alternative(GetTransactionTraceRequest(hash=hashes[-1]))
        same(fact["trace_id"], trace.id, "root")
        children = {}
        collect(trace, children)
        same({key: sorted(value) for key, value in fact["children"].items()}, children, f"tree of {trace.id}")
    return f"traces of {[len(fact['transactions']) for fact in truth['traces']]} transactions, step by step"


def collect(node, children):
    children[node.id] = sorted(each.id for each in node.children)
    for child in node.children:
        collect(child, children)


async def check_accounts(client, truth):
    for account in truth["accounts"]:
        found = await client.get_account(GetAccountRequest(address=account["address"]))
        expected = (int(account["balance"]), truth.status(account), int(account["last_lt"]), account["last_hash"])
        same(expected, (found.balance, found.status, found.last_transaction_lt, found.last_transaction_hash), account["address"])
        same(account["data_hash"] != "", found.data is not None, f"data of {account['address']}")
    for wallet in truth["wallets"]:
        if wallet["wallet_id"] is None:
            continue  # its model has no wallet without id
        found = await client.get_wallet(GetWalletRequest(address=wallet["address"]))
        expected = (wallet["wallet_type"], wallet["seqno"], wallet["wallet_id"], int(wallet["balance"]))
        same(expected, (found.wallet_type, found.seqno, found.wallet_id, found.balance), wallet["address"])
    return f"{len(truth['accounts'])} accounts, {len(truth['wallets'])} wallets"


async def check_address_book(client, truth):
    addresses = [each["address"] for each in truth["accounts"]]
    book = await client.get_address_book(GetAddressBookRequest(address=addresses))
    same(len(addresses), len(book), "entries")
    same(set(addresses), {raw(Address(each)) for each in book}, "addresses")
    for address, row in book.items():
        same(Address(address), Address(row.user_friendly), "user-friendly form")
    return f"{len(book)} addresses"


async def check_calls(client, truth):
    stake = await client.run_get_method(
        RunGetMethodRequest(
            address=ELECTOR, method="compute_returned_stake", stack=[GetMethodParameterInput(type="num", value=5)]
        )
    )
    same((0, [("num", "0x0")]), (stake.exit_code, [(each.type, each.value) for each in stake.stack]), "stake of nobody")
    fee = await client.estimate_fee(EstimateFeeRequest(address=truth["wallets"][0]["address"], body=EMPTY_CELL))
    same(True, fee.source_fees.in_fwd_fee > 0, "that taking a message in costs something")
    try:
        await client.send_message(ExternalMessage(boc="te6c"))
    except TonCenterValidationException:
        return f"a get-method, a fee of {fee.source_fees.in_fwd_fee}, a message that is refused"
    raise AssertionError("half a bag of cells was taken")


async def check_subscription(client, truth):
    history = truth["history"]
    account = truth.transaction(history[0])["account"]
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        async for transaction in client.subscribe_tx(
            SubscribeTransactionRequest(account=account, start_time=at(0), limit=5, interval=0.01)
        ):
            found.append(transaction.hash)
            if len(found) == len(history):
                break
    same(history[::-1], found, "transactions")
    return f"{len(found)} transactions in pages, rising"


async def check_tokens(client, truth):
    """Each list is read, and each row of it found again by its address."""
    masters = await client.get_jetton_masters()
    for master in masters:
        found = await client.get_jetton_masters(master.address)
        same(master.total_supply, found.total_supply, "total supply")
    wallets = await client.get_jetton_wallets()
    items = await client.get_nft_items()
    collections = await client.get_nft_collections()
    # Its models of events know no message without an address to answer to.
    lists = [masters, wallets, collections, items]
    assert all(lists), f"an empty list: {[len(each) for each in lists]}"
    return ", ".join(str(len(each)) for each in lists)


async def main():
    url, truth = arguments()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        client = get_client("v3", "testnet", api_key="", custom_endpoint=f"{url}/toncenter/api/v3", qps=1000)
    await run_checks(
        {
            "blocks": check_blocks,
            "transactions of an account": check_transactions,
            "transactions of a bundle": check_rounds,
            "transactions by message": check_by_message,
            "messages": check_messages,
            "adjacent transactions": check_adjacent,
            "traces, step by step": check_trace,
            "accounts and wallets": check_accounts,
            "address book": check_address_book,
            "get-methods, fees, sending": check_calls,
            "a subscription": check_subscription,
            "jettons and NFTs": check_tokens,
        },
        client,
        truth,
    )


asyncio.run(main())
