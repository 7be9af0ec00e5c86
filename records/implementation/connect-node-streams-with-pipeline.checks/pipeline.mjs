// pipeline() rejects on an error in any stage and destroys the others.
import assert from "node:assert";
import { Readable, Transform, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";

const source = Readable.from(["a", "b", "c"]);
const broken = new Transform({ transform: (chunk, enc, done) => done(new Error("bad chunk")) });
const sink = new Writable({ write: (chunk, enc, done) => done() });

await assert.rejects(pipeline(source, broken, sink), /bad chunk/);
assert.ok(source.destroyed && broken.destroyed && sink.destroyed);
