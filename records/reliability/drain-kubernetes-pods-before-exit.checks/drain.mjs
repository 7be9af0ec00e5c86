// On SIGTERM the server stops accepting, finishes the request in flight and exits with 0.
import { spawn } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

if (process.argv[2] === "server") {
  const server = http.createServer((request, response) => {
    console.log("busy");
    setTimeout(() => response.end("done"), 300);
  });
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
  process.on("SIGTERM", () => {
    server.close(() => process.exit(0));
    setTimeout(() => process.exit(1), 5000).unref();
  });
} else {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), "server"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const port = Number((await lines.next()).value);
  const answer = new Promise((resolve, reject) => {
    http
      .get({ port, host: "127.0.0.1", agent: false }, (response) => {
        response.resume();
        response.on("end", () => resolve(response.statusCode));
      })
      .on("error", reject);
  });
  await Promise.race([lines.next(), answer]);
  child.kill("SIGTERM");
  const status = await answer;
  const [code] = await exited;
  console.log("status", status, "exit code", code);
  if (status !== 200 || code !== 0) process.exit(1);
}
