// The tree that a screen reader gets of a real browser: the control has a name, the picture is not in it.
import { chromium } from "playwright-core";

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"],
});
const page = await browser.newPage();
await page.setContent(`
  <style>.visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }</style>
  <button><svg aria-hidden="true"><path d="M0 0h9"/></svg><span class="visually-hidden">Delete invoice 12</span></button>
  <button aria-label="Close"><svg aria-hidden="true"><path d="M0 0h9"/></svg></button>`);
const tree = await page.locator("body").ariaSnapshot();
await browser.close();
if (tree !== '- button "Delete invoice 12"\n- button "Close"') throw new Error(`a control has no name:\n${tree}`);
