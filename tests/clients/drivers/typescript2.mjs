// The TypeScript SDK 2; it speaks the older protocol unless it is told to find out.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { run } from "./dialogue.mjs";

await run(async (url, headers, mode) => {
  const options = mode === "auto" ? { versionNegotiation: { mode } } : {};
  const client = new Client({ name: "chatctx-tests", version: "1.0.0" }, options);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return client;
});
