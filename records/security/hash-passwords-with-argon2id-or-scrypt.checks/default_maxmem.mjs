import { randomBytes, scryptSync } from "node:crypto";

scryptSync("correct horse", randomBytes(16), 32, { N: 2 ** 17, r: 8, p: 1 });
