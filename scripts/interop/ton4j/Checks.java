// Reads from a local network with the clients toncenter and adnl of ton4j, and compares with what is known of the network. Prints one
// JSON object a line, {"name", "ok", "detail"}.
// java -cp CLASSPATH Checks.java toncenter URL WALLET RECEIVER AMOUNT MULTISIG SEQNO
// java -cp CLASSPATH Checks.java adnl GLOBAL_CONFIG WALLET RECEIVER AMOUNT SEQNO
import java.math.BigInteger;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.ton.ton4j.address.Address;
import org.ton.ton4j.adnl.AdnlLiteClient;
import org.ton.ton4j.toncenter.TonCenter;
import org.ton.ton4j.toncenter.TonResponse;

public class Checks {
  static void check(String name, Callable<String> run) {
    boolean ok = true;
    String detail;
    try {
      detail = run.call();
    } catch (Throwable error) {
      ok = false;
      detail = String.valueOf(error);
    }
    String text = detail.replace("\\", "\\\\").replace("\"", "'").replaceAll("\\p{Cntrl}", " ");
    System.out.println("{\"name\":\"" + name + "\",\"ok\":" + ok + ",\"detail\":\"" + text + "\"}");
  }

  static void same(Object expected, Object found, String what) {
    if (!String.valueOf(expected).equals(String.valueOf(found))) {
      throw new IllegalStateException(what + ": expected " + expected + ", found " + found);
    }
  }

  static <T> T result(TonResponse<T> response) {
    if (!response.isSuccess()) throw new IllegalStateException("error " + response.getCode() + ": " + response.getError());
    return response.getResult();
  }

  public static void main(String[] args) throws Exception {
    String[] rest = Arrays.copyOfRange(args, 1, args.length);
    if (args[0].equals("adnl")) checkAdnl(rest);
    else checkToncenter(rest);
  }

  static void checkToncenter(String[] args) {
    String url = args[0], wallet = args[1], receiver = args[2], amount = args[3], multisig = args[4];
    long seqno = Long.parseLong(args[5]);
    TonCenter client =
        TonCenter.builder().endpoint(url).connectTimeout(Duration.ofSeconds(10)).readTimeout(Duration.ofSeconds(20)).uniqueRequests().build();

    check("balance and state", () -> {
      same(amount, result(client.getAddressBalance(receiver)), "balance");
      same(new BigInteger(amount), client.getBalance(receiver), "balance as a number");
      same("uninitialized", client.getState(receiver), "state");
      same(amount, result(client.getAddressInformation(receiver)).getBalance(), "balance of the information");
      return amount + " nanotons";
    });
    check("a wallet", () -> {
      var info = result(client.getWalletInformation(wallet));
      same("wallet v4 r2", info.getWalletType(), "type");
      same(0, info.getSeqno(), "seqno");
      same(0, client.getSeqno(wallet), "seqno by its get-method");
      same(698983191L, client.getSubWalletId(wallet), "id by its get-method");
      return info.getWalletType();
    });
    check("transactions of an account", () -> {
      var list = result(client.getTransactions(receiver, 5));
      same(1, list.size(), "number of transactions");
      var message = list.get(0).getInMsg();
      same(amount, message.getValue(), "value");
      same("for ton4j", message.getMessage(), "comment");
      return "1 transaction";
    });
    check("the head", () -> {
      var info = result(client.getMasterchainInfo());
      long head = info.getLast().getSeqno();
      if (head < seqno) throw new IllegalStateException("head " + head + " is before " + seqno);
      same(0, info.getInit().getSeqno(), "init block");
      return "block " + head;
    });
    check("shards and a block", () -> {
      var shards = result(client.getShards(seqno)).getShards();
      same(1, shards.size(), "number of shards");
      same(0, shards.get(0).getWorkchain(), "workchain");
      var found = result(client.lookupBlockBySeqno(-1, Long.MIN_VALUE, seqno));
      same(seqno, found.getSeqno(), "block that was looked up");
      return "1 shard at block " + seqno;
    });
    check("transactions of a block", () -> {
      var block = result(client.getBlockTransactions(-1, Long.MIN_VALUE, seqno));
      same(false, block.getIncomplete(), "whether there are more");
      if (block.getTransactions().size() < 2) throw new IllegalStateException("no tick and tock in the masterchain");
      return block.getTransactions().size() + " transactions";
    });
    check("addresses", () -> {
      String packed = result(client.packAddress(wallet));
      same(wallet.toLowerCase(Locale.ROOT), result(client.unpackAddress(packed)).toLowerCase(Locale.ROOT), "unpacked");
      same(wallet.toLowerCase(Locale.ROOT), result(client.detectAddress(packed)).getRawForm().toLowerCase(Locale.ROOT), "detected");
      return packed;
    });
    check("a get-method", () -> {
      var run = result(client.runGetMethod(multisig, "get_multisig_data", List.of()));
      same(0, run.getExitCode(), "exit code");
      same("num", run.getStack().get(1).get(0), "type of the threshold");
      same("0x2", run.getStack().get(1).get(1), "threshold");
      return "threshold 2";
    });
    check("configuration", () -> {
      if (result(client.getConfigParam(4)) == null) throw new IllegalStateException("no parameter 4");
      if (result(client.getConfigAll()) == null) throw new IllegalStateException("no configuration");
      return "parameter 4 and all";
    });
    check("what does not exist", () -> {
      String problem = null;
      try {
        client.lookupBlockBySeqno(-1, Long.MIN_VALUE, 99_999_999L);
      } catch (RuntimeException error) {
        problem = error.getMessage();
      }
      if (problem == null || !problem.contains("99999999")) throw new IllegalStateException("answered: " + problem);
      return problem;
    });
    client.close();
  }

  static void checkAdnl(String[] args) throws Exception {
    Address wallet = Address.of(args[1]), receiver = Address.of(args[2]);
    BigInteger amount = new BigInteger(args[3]);
    long seqno = Long.parseLong(args[4]);
    AdnlLiteClient client = AdnlLiteClient.builder().configPath(args[0]).queryTimeout(20).build();

    check("the head", () -> {
      var info = client.getMasterchainInfo();
      if (info.getLast().getSeqno() < seqno) throw new IllegalStateException("head " + info.getLast().getSeqno() + " is before " + seqno);
      same(-1, info.getLast().getWorkchain(), "workchain");
      return "block " + info.getLast().getSeqno();
    });
    check("the head with its time", () -> {
      var info = client.getMasterchainInfoExt(0);
      long ahead = Math.abs(info.getNow() - client.getTime().getNow());
      if (ahead > 5) throw new IllegalStateException("its time and that of getTime are " + ahead + " s apart");
      return "version " + (info.getVersion() >> 8) + "." + (info.getVersion() & 255);
    });
    check("a balance", () -> {
      same(amount, client.getBalance(receiver), "balance");
      same("UNINIT", client.getAccountStatus(receiver), "state");
      return amount + " nanotons";
    });
    check("get-methods of a wallet", () -> {
      same(0, client.getSeqno(wallet), "seqno");
      same(698983191L, client.getSubWalletId(wallet), "id");
      same(true, client.isDeployed(wallet), "whether it is deployed");
      same(0, client.runMethod(wallet, "seqno").getExitCode(), "exit code");
      return "4 calls";
    });
    check("configuration", () -> {
      same("5".repeat(64), client.getConfigParam0().getConfigAddr().toLowerCase(), "address of the config contract");
      same("3".repeat(64), client.getConfigParam1().getElectorAddr().toLowerCase(), "address of the elector");
      return "parameters 0 and 1";
    });
    check("a block, its header and its transactions", () -> {
      var last = client.getMasterchainInfo().getLast();
      same(last.getSeqno(), client.getBlock(last).getId().getSeqno(), "block");
      same(last.getRootHash(), client.getBlockHeader(last, 0).getId().getRootHash(), "root hash by its header");
      int found = client.listBlockTransactions(last, 0, 40, null).getTransactionIds().size();
      if (found < 2) throw new IllegalStateException("no tick and tock in the masterchain");
      return found + " transactions of block " + last.getSeqno();
    });
    check("shards", () -> {
      var shards = client.getAllShardsInfo(client.getMasterchainInfo().getLast()).getShards();
      same(1, shards.size(), "number of shards");
      return "1 shard";
    });
    check("transactions of an account", () -> {
      var list = client.getTransactions(receiver, 0, null, 5);
      same(1, list.getTransactionsParsed().size(), "number of transactions");
      return "1 transaction";
    });
    client.close();
  }
}
