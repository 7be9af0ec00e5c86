// The same holds for node:crypto: maxmem defaults to 32 MiB there too.
import { randomBytes, scryptSync, timingSafeEqual } from "node:crypto";

const options = { N: 2 ** 17, r: 8, p: 1, maxmem: 192 * 1024 * 1024 };
const salt = randomBytes(16);
const stored = scryptSync("correct horse", salt, 32, options);
if (!timingSafeEqual(stored, scryptSync("correct horse", salt, 32, options))) throw new Error("mismatch");
console.log("ok", stored.length);
