// pipe() forwards data only: a failure upstream leaves the destination open and nobody is told.
import assert from "node:assert";
import { Readable, Transform, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

const source = Readable.from(["a", "b", "c"]);
const broken = new Transform({ transform: (chunk, enc, done) => done(new Error("bad chunk")) });
const sink = new Writable({ write: (chunk, enc, done) => done() });

broken.on("error", () => {}); // the usual per-stream handler
source.pipe(broken).pipe(sink);
await sleep(50);
assert.ok(sink.destroyed && source.destroyed, "streams left open after the error");
