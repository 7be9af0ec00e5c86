// The constructor never refuses: days past the end of the month roll over into the next one.
import assert from "node:assert";

function realDate(day, month, year) {
  const date = new Date(year, month - 1, day);
  return Number.isNaN(date.getTime()) ? null : date;
}

assert.equal(realDate(31, 2, 1990), null, "31 February was accepted");
