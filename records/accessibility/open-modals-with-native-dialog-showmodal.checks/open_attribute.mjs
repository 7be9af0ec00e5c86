// Tab ten times, then Escape, in a real browser, in a dialog opened by its attribute.
import { chromium } from "playwright-core";

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"],
});
const page = await browser.newPage();
await page.setContent(`
  <button id=opener onclick="dialog.open = true">Open</button><input id=behind>
  <dialog id=dialog aria-labelledby=title><h2 id=title>Delete?</h2><button autofocus>No</button><button>Yes</button></dialog>`);
await page.locator("#opener").focus();
await page.keyboard.press("Enter");
const reached = [];
for (let step = 0; step < 10; step++) {
  await page.keyboard.press("Tab");
  reached.push(await page.evaluate(() => document.activeElement.closest("dialog") ? "" : document.activeElement.id));
}
await page.keyboard.press("Escape");
const [open, focused] = await page.evaluate(() => [dialog.open, document.activeElement.id]);
await browser.close();
if (reached.includes("behind")) throw new Error("Tab left the dialog");
if (open || focused !== "opener") throw new Error("Escape did not close it and give the focus back");
