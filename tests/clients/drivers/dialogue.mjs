// As dialogue.py, for clients in JavaScript.
import { createInterface } from "node:readline";

export async function run(connect) {
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(JSON.stringify(await hold(connect, JSON.parse(line))) + "\n");
  }
}

async function hold(connect, wish) {
  const seen = { tools: [], answers: [], failure: null };
  const headers = wish.key ? { Authorization: `Bearer ${wish.key}` } : {};
  let client = null;
  try {
    client = await connect(new URL(wish.url), headers, wish.mode);
    seen.tools = (await client.listTools()).tools.map((tool) => tool.name);
    for (const [name, args] of wish.calls) {
      const result = await client.callTool({ name, arguments: filled(args, seen.answers) });
      seen.answers.push([Boolean(result.isError), result.content[0].text]);
    }
  } catch (error) {
    seen.failure = `${error.name}: ${error.message}`;
  }
  await client?.close();
  return seen;
}

function filled(args, answers) {
  const text = JSON.stringify(args);
  return JSON.parse(text.includes("$ID") ? text.replaceAll("$ID", JSON.parse(answers[0][1]).results[0].id) : text);
}
