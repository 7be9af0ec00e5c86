import { Worker } from "node:worker_threads";

const busy = "const end = Date.now() + 900; while (Date.now() < end) {}";
let last = Date.now();
let worst = 0;
const timer = setInterval(() => {
  worst = Math.max(worst, Date.now() - last);
  last = Date.now();
}, 10);

new Worker(busy, { eval: true }).on("exit", () => {
  clearInterval(timer);
  if (worst > 600) throw new Error(`event loop was blocked for ${worst} ms`);
});
