import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.util.concurrent.Executors;

/**
 * A Java server for the matrix of advice: Server PORT THREADS, where 0 threads is one for
 * each processor. /cpu computes, /wait computes little and waits, /garbage allocates 4 MiB
 * that nothing keeps.
 */
public class Server {
  static volatile Object kept;

  static byte[] work(int rounds) throws Exception {
    byte[] block = new byte[4096];
    byte[] sum = null;
    for (int i = 0; i < rounds; i++) {
      sum = MessageDigest.getInstance("SHA-1").digest(block);
      System.arraycopy(sum, 0, block, 0, sum.length);
    }
    return sum;
  }

  public static void main(String[] args) throws Exception {
    int threads = Integer.parseInt(args[1]);
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 256);
    server.createContext("/", exchange -> {
      try {
        String path = exchange.getRequestURI().getPath();
        if (path.equals("/garbage")) {
          kept = new byte[4 << 20];
        } else if (path.equals("/wait")) {
          Thread.sleep(20);
          work(30);
        } else {
          work(300);
        }
      } catch (Exception e) {
        throw new RuntimeException(e);
      }
      byte[] body = "ok\n".getBytes();
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    server.setExecutor(Executors.newFixedThreadPool(threads > 0 ? threads : Runtime.getRuntime().availableProcessors()));
    server.start();
  }
}
