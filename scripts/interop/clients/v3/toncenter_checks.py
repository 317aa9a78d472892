"""Reads from a running Tern with the client of API v3 in the package toncenter, and compares with what the chain holds.

python toncenter_checks.py URL TRUTH.json: prints one JSON object a line, {"name", "ok", "detail"}.
"""

import asyncio

from checking import arguments, run_checks, same, same_block, same_message, same_transaction, same_transactions
from toncenter.exceptions import (
    ToncenterConflictError,
    ToncenterNotFoundError,
    ToncenterUnprocessableError,
)
from toncenter.rest.client import ToncenterRestClient
from toncenter.rest.v3.models import (
    DecodeRequest,
    V2EstimateFeeRequest,
    V2RunGetMethodRequest,
    V2SendMessageRequest,
    V2StackEntity,
)
from toncenter.utils import raw_to_userfriendly

ELECTOR = "-1:" + "3" * 64
NOBODY = "0:" + "0123456789ABCDEF" * 4
JETTON_TRANSFER = 0x0F8A7EA5
JETTON_BURN = 0x595F07BC
# A bag of one empty cell.
EMPTY_CELL = "te6cckEBAQEAAgAAAEysuc0="


async def check_head(v3, truth):
    info = await v3.blockchain.get_masterchain_info()
    same(truth["first_seqno"], info.first.seqno, "first block")
    same(truth["head_seqno"], info.last.seqno, "last block")
    last = next(each for each in truth["bundles"] if each["mc_seqno"] == truth["head_seqno"])
    same_block(last["blocks"][0], info.last, info.last.seqno)
    return f"blocks {info.first.seqno} to {info.last.seqno}"


async def check_blocks(v3, truth):
    count = 0
    for fact in truth["bundles"]:
        mc_seqno = fact["mc_seqno"]
        expected = {each["root_hash"] for each in fact["blocks"]}
        for found in (
            await v3.blockchain.get_blocks(mc_seqno=mc_seqno, limit=100),
            await v3.blockchain.get_masterchain_block_shards(mc_seqno, limit=100),
        ):
            same(expected, {each.root_hash for each in found.blocks}, f"blocks that {mc_seqno} commits")
            same(len(expected), len(found.blocks), f"number of blocks that {mc_seqno} commits")
        for block in fact["blocks"]:
            for filters in (
                {"workchain": block["workchain"], "shard": block["shard"], "seqno": block["seqno"]},
                {"root_hash": block["root_hash"]},
                {"file_hash": block["file_hash"]},
                {"workchain": block["workchain"], "start_lt": block["start_lt"], "end_lt": block["start_lt"], "sort": "asc"},
            ):
                found = (await v3.blockchain.get_blocks(**filters)).blocks
                matching = [each for each in found if each.root_hash == block["root_hash"]]
                same(1, len(matching), f"blocks by {filters}")
                same_block(block, matching[0], mc_seqno)
                count += 1
        state = (await v3.blockchain.get_masterchain_block_shard_state(mc_seqno)).blocks
        # Those of the zerostate are not indexed.
        tops = {(top["workchain"], top["seqno"]) for top in fact["tops"] if top["seqno"] > 0} | {(-1, mc_seqno)}
        same(tops, {(each.workchain, each.seqno) for each in state}, f"shards at {mc_seqno}")
    return f"{len(truth['bundles'])} bundles, {count} look-ups"


async def check_times(v3, truth):
    head = next(each for each in truth["bundles"] if each["mc_seqno"] == truth["head_seqno"])["blocks"][0]
    utime = head["gen_utime"]
    found = (await v3.blockchain.get_blocks(start_utime=utime, workchain=-1, limit=100)).blocks
    same(head["root_hash"], found[0].root_hash, "newest block")
    same([], [each.seqno for each in found if int(each.gen_utime) < utime], "blocks before the bound")
    found = (await v3.blockchain.get_blocks(end_utime=utime - 1, workchain=-1, limit=3, offset=1)).blocks
    same([True] * 3, [int(each.gen_utime) < utime for each in found], "blocks within the bound")
    return f"from {utime}"


async def check_transactions(v3, truth):
    history = truth["history"]
    account = truth.transaction(history[0])["account"]
    read = v3.blockchain.get_transactions
    same_transactions(truth, history, (await read(account=[account], limit=100)).transactions, "history")
    rising = (await read(account=[account], sort="asc", limit=5, offset=2)).transactions
    same_transactions(truth, history[::-1][2:7], rising, "a page of the history, rising")
    third = truth.transaction(history[2])
    same_transactions(truth, history[2:3], (await read(hash=history[2])).transactions, "by hash")
    found = (await read(account=[account], lt=int(third["lt"]))).transactions
    same_transactions(truth, history[2:3], found, "by account and lt")
    newer = (await read(account=[account], start_lt=int(third["lt"]))).transactions
    same_transactions(truth, history[:3], newer, "from an lt on")
    older = (await read(account=[account], end_lt=int(third["lt"]), limit=100)).transactions
    same_transactions(truth, history[2:], older, "up to an lt")
    since = (await read(account=[account], start_utime=third["now"], limit=100)).transactions
    expected = [each for each in history if truth.transaction(each)["now"] >= third["now"]]
    same_transactions(truth, expected, since, "from a time on")
    until = (await read(account=[account], end_utime=third["now"], limit=100)).transactions
    expected = [each for each in history if truth.transaction(each)["now"] <= third["now"]]
    same_transactions(truth, expected, until, "up to a time")
    block = third["block"]
    found = (await read(workchain=block["workchain"], shard=block["shard"], seqno=block["seqno"], limit=100)).transactions
    same(True, history[2] in [each.hash for each in found], "that a transaction is in its block")
    others = (await read(mc_seqno=third["mc_seqno"], exclude_account=[account], limit=100)).transactions
    same([], [each.hash for each in others if each.account == account], "transactions of an excluded account")
    return f"{len(history)} of one account, nine ways"


async def check_rounds(v3, truth):
    count = 0
    for fact in truth["bundles"]:
        hashes = fact["transactions"]
        seqno = fact["mc_seqno"]
        found = await v3.blockchain.get_transactions_by_masterchain_block(seqno, limit=1000, sort="asc")
        same(sorted(hashes), sorted(each.hash for each in found.transactions), f"transactions of round {seqno}")
        lts = [int(each.lt) for each in found.transactions]
        same(sorted(lts), lts, f"order of round {seqno}")
        for transaction in found.transactions:
            same_transaction(truth.transaction(transaction.hash), transaction)
        same(
            sorted(hashes),
            sorted(each.hash for each in (await v3.blockchain.get_transactions(mc_seqno=seqno, limit=1000)).transactions),
            f"transactions by mc_seqno {seqno}",
        )
        count += len(hashes)
    return f"{count} transactions of {len(truth['bundles'])} bundles, each field of each"


async def check_messages(v3, truth):
    read = v3.blockchain.get_messages
    for kind, fact in truth["messages"].items():
        (found,) = (await read(msg_hash=[fact["hash"]])).messages
        same_message(fact, found, kind)
        same(truth["sent_by"].get(fact["hash"]), found.out_msg_tx_hash, f"who sent the {kind} message")
        same(truth["received_by"].get(fact["hash"]), found.in_msg_tx_hash, f"who received the {kind} message")
        by_body = (await read(body_hash=fact["body_hash"], limit=1000)).messages
        same(True, fact["hash"] in [each.hash for each in by_body], f"{kind} message by its body")
        same({fact["body_hash"]}, {each.message_content.hash for each in by_body}, "bodies")
    fact = truth["messages"]["internal"]
    ends = {"source": fact["source"], "destination": fact["destination"]}
    lt = int(fact["created_lt"])
    opcode = f"0x{fact['opcode']:08x}"
    for filters in (
        {"start_lt": lt, "end_lt": lt},
        {"start_utime": int(fact["created_at"]), "end_utime": int(fact["created_at"]), "limit": 1000},
        {"opcode": opcode, "limit": 1000},
        {"exclude_externals": True, "start_lt": lt, "end_lt": lt, "sort": "asc"},
    ):
        found = (await read(**ends, **filters)).messages
        same(True, fact["hash"] in [each.hash for each in found], f"message by {filters}")
        same({(fact["source"], fact["destination"])}, {(each.source, each.destination) for each in found}, "ends")
    outside = truth["messages"]["external_in"]
    (found,) = (await read(msg_hash=[outside["hash_norm"]])).messages
    same(outside["hash"], found.hash, "message by its normalised hash")
    same(outside["hash_norm"], found.hash_norm, "normalised hash")
    found = (await read(source="null", destination=outside["destination"], only_externals=True, limit=1000)).messages
    same({None}, {each.source for each in found}, "senders of messages from outside")
    same(True, outside["hash"] in [each.hash for each in found], "message from outside by its receiver")
    return f"{len(truth['messages'])} kinds, by hash, body, ends, times, opcode"


async def check_by_message(v3, truth):
    read = v3.blockchain.get_transactions_by_message
    fact = truth["messages"]["internal"]
    sender, receiver = truth["sent_by"][fact["hash"]], truth["received_by"][fact["hash"]]
    both = (await read(msg_hash=fact["hash"])).transactions
    same({sender, receiver}, {each.hash for each in both}, "both ends of a message")
    same([sender], [each.hash for each in (await read(msg_hash=fact["hash"], direction="out")).transactions], "sender")
    found = (await read(body_hash=fact["body_hash"], opcode=f"0x{fact['opcode']:08x}", direction="in", limit=1000)).transactions
    same(True, receiver in [each.hash for each in found], "receiver by body and opcode")
    outside = truth["messages"]["external_in"]
    (taken,) = (await read(msg_hash=outside["hash_norm"])).transactions
    same(truth["received_by"][outside["hash"]], taken.hash, "receiver by a normalised hash")
    return "by hash, body, opcode, direction"


async def check_adjacent(v3, truth):
    fact = truth["adjacent"]
    read = v3.blockchain.get_adjacent_transactions
    same_transactions(truth, [fact["before"]], (await read(fact["hash"], "in")).transactions, "before")
    after = (await read(fact["hash"], "out")).transactions
    same(sorted(fact["after"]), sorted(each.hash for each in after), "after")
    both = (await read(fact["hash"])).transactions
    same(sorted([fact["before"], *fact["after"]]), sorted(each.hash for each in both), "before and after")
    return f"1 before, {len(after)} after"


async def check_traces(v3, truth):
    read = v3.actions.get_traces
    for fact in truth["traces"]:
        hashes = fact["transactions"]
        root = truth.transaction(fact["trace_id"])
        account = truth.transaction(hashes[-1])["account"]
        for filters in (
            {"trace_id": [fact["trace_id"]]},
            {"tx_hash": [hashes[len(hashes) // 2]]},
            {"msg_hash": [root["in_msg"]["hash"]]},
            {"mc_seqno": fact["mc_seqno_end"], "limit": 1000},
            {"account": account, "start_lt": int(fact["end_lt"]), "end_lt": int(fact["end_lt"])},
        ):
            found = (await read(**filters)).traces
            matching = [each for each in found if each.trace_id == fact["trace_id"]]
            same(1, len(matching), f"traces {fact['trace_id']} by {filters}")
        (trace,) = matching
        same(fact["external_hash"], trace.external_hash, "external hash")
        same((fact["start_lt"], fact["end_lt"]), (trace.start_lt, trace.end_lt), "lts")
        same(
            (str(fact["mc_seqno_start"]), str(fact["mc_seqno_end"])),
            (trace.mc_seqno_start, trace.mc_seqno_end),
            "masterchain blocks",
        )
        same(("complete", len(hashes)), (trace.trace_info.trace_state, trace.trace_info.transactions), "trace info")
        same(sorted(hashes), sorted(trace.transactions_order), "transactions in order")
        same(set(hashes), set(trace.transactions), "transactions")
        for hash_ in hashes:
            same_transaction(truth.transaction(hash_), trace.transactions[hash_])
        children = {}
        collect(trace.trace, children)
        expected = {key: sorted(value) for key, value in fact["children"].items()}
        same(expected, children, "tree")
    return f"traces of {[len(fact['transactions']) for fact in truth['traces']]} transactions, five ways"


def collect(node, children):
    children[node.tx_hash] = sorted(each.tx_hash for each in node.children or [])
    for child in node.children or []:
        collect(child, children)


async def check_accounts(v3, truth):
    accounts = truth["accounts"]
    addresses = [each["address"] for each in accounts]
    for boc in (True, False):
        found = {each.address: each for each in (await v3.accounts.get_account_states(addresses, include_boc=boc)).accounts}
        for account in accounts:
            state = found[account["address"]]
            name = account["address"]
            same(account["balance"], state.balance, f"balance of {name}")
            same(truth.status(account), state.status, f"status of {name}")
            same(account["code_hash"] or None, state.code_hash, f"code of {name}")
            same(account["data_hash"] or None, state.data_hash, f"data of {name}")
            same((account["last_lt"], account["last_hash"]), (state.last_transaction_lt, state.last_transaction_hash), name)
            same(boc and account["data_hash"] != "", state.data_boc is not None, f"whether {name} has data in the answer")
    for account in accounts:
        for use_v2 in (True, False):
            info = await v3.api_v2.get_address_information(account["address"], use_v2=use_v2)
            same(account["balance"], info.balance, f"balance of {account['address']}, use_v2={use_v2}")
            same(account["last_lt"], info.last_transaction_lt, f"last lt of {account['address']}, use_v2={use_v2}")
            status = account["state"] if use_v2 else truth.status(account)
            same(status, info.status, f"status of {account['address']}, use_v2={use_v2}")
    return f"{len(accounts)} accounts, four ways"


async def check_wallets(v3, truth):
    wallets = truth["wallets"]
    found = {
        each.address: each for each in (await v3.accounts.get_wallet_states([each["address"] for each in wallets])).wallets
    }
    for wallet in wallets:
        kind = (wallet["wallet_type"], wallet["seqno"], wallet["wallet_id"], wallet["balance"])
        state = found[wallet["address"]]
        same(True, state.is_wallet, f"that {wallet['address']} is a wallet")
        same(kind, (state.wallet_type, state.seqno, state.wallet_id, state.balance), wallet["address"])
        for use_v2 in (True, False):
            info = await v3.api_v2.get_wallet_information(wallet["address"], use_v2=use_v2)
            same(kind, (info.wallet_type, info.seqno, info.wallet_id, info.balance), wallet["address"])
    try:
        await v3.api_v2.get_wallet_information(ELECTOR)
        raise AssertionError("the elector was taken for a wallet")
    except ToncenterConflictError as error:
        return f"{len(wallets)} wallets of {len({each['wallet_type'] for each in wallets})} kinds; the elector: {error}"


async def check_names(v3, truth):
    addresses = [each["address"] for each in truth["accounts"]]
    book = (await v3.accounts.get_address_book(addresses)).root
    same(set(addresses), set(book), "addresses of the book")
    for address, row in book.items():
        forms = {raw_to_userfriendly(address, is_bounceable=bounce).replace("+", "-").replace("/", "_") for bounce in (True, False)}
        same(True, row.user_friendly in forms, f"whether {row.user_friendly} is {address}")
    for address, told in (await v3.accounts.get_metadata(addresses)).root.items():
        for token in told.token_info:
            lists = {
                "jetton_masters": lambda: v3.jettons.get_jetton_masters(address=[address]),
                "jetton_wallets": lambda: v3.jettons.get_jetton_wallets(address=[address]),
                "nft_collections": lambda: v3.nfts.get_nft_collections(collection_address=[address]),
                "nft_items": lambda: v3.nfts.get_nft_items(address=[address]),
            }
            (row,) = getattr(await lists[token.type](), token.type)
            # A wallet is told of with its master.
            same(address, row.address, f"token of the type {token.type}")
    top = await v3.stats.get_top_accounts_by_balance()
    same([(each["account"], each["balance"]) for each in truth["top"]], [(each.account, each.balance) for each in top], "top")
    page = await v3.stats.get_top_accounts_by_balance(limit=3, offset=4)
    same([each["account"] for each in truth["top"][4:7]], [each.account for each in page], "a page of the top")
    return f"{len(book)} addresses, {len(top)} richest"


async def check_decode(v3, truth):
    opcodes = [hex(JETTON_TRANSFER), "0x5fcc3d14"]
    got = await v3.utils.get_decode(opcodes=opcodes)
    same(["jetton_transfer", "nft_transfer"], got.opcodes, "names of opcodes")
    posted = await v3.utils.post_decode(DecodeRequest(opcodes=opcodes))
    same(got.opcodes, posted.opcodes, "names of opcodes, posted")
    return ", ".join(got.opcodes)


async def check_calls(v3, truth):
    run = v3.api_v2.run_get_method
    stake = await run(
        V2RunGetMethodRequest(
            address=ELECTOR, method="compute_returned_stake", stack=[V2StackEntity(type="num", value="0x5")]
        )
    )
    same((0, [("num", "0x0")]), (stake.exit_code, [(each.type, each.value) for each in stake.stack]), "stake of nobody")
    missing = await run(V2RunGetMethodRequest(address=ELECTOR, method="no_such_method", stack=[]))
    same(11, missing.exit_code, "exit code of a method that there is not")
    for wallet in truth["wallets"]:
        if wallet["wallet_id"] is None:
            continue  # these kinds have no get-methods
        seqno = await run(V2RunGetMethodRequest(address=wallet["address"], method="seqno", stack=[]))
        same(hex(wallet["seqno"]), seqno.stack[0].value, f"seqno of {wallet['address']}")
    fee = await v3.api_v2.estimate_fee(
        V2EstimateFeeRequest(address=truth["wallets"][0]["address"], body=EMPTY_CELL, ignore_chksig=True)
    )
    same(True, fee.source_fees.in_fwd_fee > 0, "that taking a message in costs something")
    try:
        await v3.api_v2.send_message(V2SendMessageRequest(boc="te6c"))
        raise AssertionError("half a bag of cells was taken")
    except ToncenterUnprocessableError:
        pass
    return f"get-methods, a fee of {fee.source_fees.in_fwd_fee}, a message that is refused"


async def check_errors(v3, truth):
    for what, error, call in (
        ("a block that is not there", ToncenterNotFoundError, v3.blockchain.get_masterchain_block_shards(truth["head_seqno"] + 1)),
        ("a wrong hash", ToncenterUnprocessableError, v3.blockchain.get_transactions(hash="zz")),
        ("a wrong direction", ToncenterUnprocessableError, v3.blockchain.get_messages(direction="up")),
        ("a transaction that is not there", ToncenterNotFoundError, v3.blockchain.get_adjacent_transactions("A" * 43 + "=")),
    ):
        try:
            await call
            raise AssertionError(f"{what} is no error")
        except error as found:
            same(True, len(str(found)) > 12, f"that {what} is explained")
    same([], (await v3.accounts.get_account_states([NOBODY])).accounts, "an account that is not there")
    return "404 and 422 as the client's own errors"


async def run_numbers(v3, address, method):
    """The numbers among the results of a get-method, at the newest block."""
    ran = await v3.api_v2.run_get_method(V2RunGetMethodRequest(address=address, method=method, stack=[]))
    same(0, ran.exit_code, f"exit code of {method} of {address}")
    return [int(each.value, 16) for each in ran.stack if each.type == "num"]


async def check_jettons(v3, truth):
    masters = (await v3.jettons.get_jetton_masters(limit=5)).jetton_masters
    same(5, len(masters), "jetton masters")
    count = 0
    for master in masters:
        (found,) = (await v3.jettons.get_jetton_masters(address=[master.address])).jetton_masters
        same(master, found, "master by its address")
        same(int(master.total_supply), (await run_numbers(v3, master.address, "get_jetton_data"))[0], "total supply")
        for wallet in (await v3.jettons.get_jetton_wallets(jetton_address=[master.address], limit=5)).jetton_wallets:
            count += 1
            same(master.address, wallet.jetton, "master of a wallet")
            same(int(wallet.balance), (await run_numbers(v3, wallet.address, "get_wallet_data"))[0], "balance")
            (one,) = (
                await v3.jettons.get_jetton_wallets(owner_address=[wallet.owner], jetton_address=[master.address])
            ).jetton_wallets
            same(wallet, one, "wallet by its owner")
    transfers = (await v3.jettons.get_jetton_transfers(limit=20)).jetton_transfers
    burns = (await v3.jettons.get_jetton_burns(limit=20)).jetton_burns
    for event, wallet, opcode in (
        *((each, each.source_wallet, JETTON_TRANSFER) for each in transfers),
        *((each, each.jetton_wallet, JETTON_BURN) for each in burns),
    ):
        (transaction,) = (await v3.blockchain.get_transactions(hash=[event.transaction_hash])).transactions
        same(wallet, transaction.account, "account of the transaction of an event")
        same(opcode, int(transaction.in_msg.opcode, 16), "opcode of an event")
    assert transfers and burns and count, "there are no jettons"
    return f"{len(masters)} masters, {count} wallets, {len(transfers)} transfers, {len(burns)} burns"


async def check_nfts(v3, truth):
    collections = (await v3.nfts.get_nft_collections(limit=5)).nft_collections
    count = 0
    for collection in collections:
        next_index = (await run_numbers(v3, collection.address, "get_collection_data"))[0]
        same(int(collection.next_item_index), next_index, "next index")
        found = await v3.nfts.get_nft_items(collection_address=[collection.address], limit=5)
        for item in found.nft_items:
            count += 1
            same(collection, item.collection, "collection of an item")
            same(int(item.index), (await run_numbers(v3, item.address, "get_nft_data"))[1], "index")
    transfers = (await v3.nfts.get_nft_transfers(limit=20)).nft_transfers
    for event in transfers:
        (transaction,) = (await v3.blockchain.get_transactions(hash=[event.transaction_hash])).transactions
        same(event.nft_address, transaction.account, "account of the transaction of a transfer")
    same([], (await v3.nfts.get_nft_sales([ELECTOR])).nft_sales, "sales")
    assert collections and transfers and count, "there are no items"
    return f"{len(collections)} collections, {count} items, {len(transfers)} transfers"


async def check_other_contracts(v3, truth):
    account = truth["accounts"][0]["address"]
    same([], (await v3.dns.get_dns_records(wallet=NOBODY)).records, "domains")
    same([], (await v3.multisig.get_multisig_orders(multisig_address=[account])).orders, "orders")
    same([], (await v3.vesting.get_vesting_contracts(wallet_address=[NOBODY])).vesting_contracts, "vesting contracts")
    wallets = {}
    for signer in truth["accounts"]:
        for multisig in (await v3.multisig.get_multisig_wallets(wallet_address=[signer["address"]])).multisigs:
            wallets[multisig.address] = multisig
    for address, multisig in wallets.items():
        threshold = (await run_numbers(v3, address, "get_multisig_data"))[1]
        same(multisig.threshold, threshold, "threshold")
        for order in multisig.orders or []:
            same(address, order.multisig_address, "multisig of an order")
    return f"{len(wallets)} multisigs"


async def check_actions(v3, truth):
    """Actions of accounts, their transactions, and the amounts of transfers."""
    counts = {}
    for account in (one["address"] for one in truth["accounts"]):
        found = (await v3.actions.get_actions(account=account, limit=50, include_accounts=True)).actions
        for action in found:
            counts[action.type] = counts.get(action.type, 0) + 1
            assert account.upper() in [one.upper() for one in action.accounts], f"{account} takes no part"
        for action in found[:5]:
            transactions = (await v3.blockchain.get_transactions(hash=action.transactions, limit=1000)).transactions
            same(sorted(action.transactions), sorted(one.hash for one in transactions), "transactions of an action")
            (trace,) = (await v3.actions.get_traces(trace_id=[action.trace_id], include_actions=True)).traces
            assert action.action_id in [one.action_id for one in trace.actions], "the trace has other actions"
            if action.type == "ton_transfer":
                values = [one.in_msg.value for one in transactions if one.in_msg is not None]
                assert action.details["value"] in values, "no message carries the value of a transfer"
    assert counts.get("ton_transfer", 0) > 0, "there are no transfers"
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


async def check_pending(v3, truth):
    """Nobody sends messages to a recorded chain: nothing is pending."""
    account = truth["accounts"][0]["address"]
    same([], (await v3.actions.get_pending_actions(account=account)).actions, "pending actions")
    same([], (await v3.actions.get_pending_traces(account=account)).traces or [], "pending traces")
    try:
        await v3.blockchain.get_pending_transactions(account=[account])
    except ToncenterNotFoundError:
        return "none"
    raise AssertionError("there are pending transactions")


async def main():
    url, truth = arguments()
    client = ToncenterRestClient(base_url=f"{url}/toncenter", rps_limit=0)
    await client.create_session()
    try:
        await run_checks(
            {
                "head": check_head,
                "blocks": check_blocks,
                "blocks by time": check_times,
                "transactions of an account": check_transactions,
                "transactions of bundles": check_rounds,
                "messages": check_messages,
                "transactions by message": check_by_message,
                "adjacent transactions": check_adjacent,
                "traces": check_traces,
                "account states": check_accounts,
                "wallets": check_wallets,
                "address book, metadata, top accounts": check_names,
                "names of opcodes": check_decode,
                "get-methods, fees, sending": check_calls,
                "errors": check_errors,
                "jettons": check_jettons,
                "NFTs": check_nfts,
                "domains, multisigs, vesting": check_other_contracts,
                "actions": check_actions,
                "what is pending": check_pending,
            },
            client.v3,
            truth,
        )
    finally:
        await client.close_session()


asyncio.run(main())
