// Build the date from the three parts and check that it comes back unchanged.
import assert from "node:assert";

export function realDate(day, month, year) {
  const date = new Date(Date.UTC(year, month - 1, day));
  date.setUTCFullYear(year);
  const same = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return same ? date : null;
}

assert.equal(realDate(31, 2, 1990), null);
assert.equal(realDate(29, 2, 2023), null);
assert.equal(realDate(1, 13, 1990), null);
assert.ok(realDate(29, 2, 2024));
assert.ok(realDate(27, 3, 1985));
