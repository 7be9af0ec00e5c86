// A picture alone, and a label on an element without a role: neither gives a name.
import { chromium } from "playwright-core";

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"],
});
const page = await browser.newPage();
await page.setContent('<button><svg><path d="M0 0h9"/></svg></button>');
const tree = await page.locator("body").ariaSnapshot();
const named = await page.getByRole("button", { name: /./ }).count();
await browser.close();
if (!named) throw new Error(`a control has no name: ${tree.split("\n")[0]}`);
