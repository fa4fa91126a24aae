// Checks pages in Chromium: node check.mjs CHROMIUM SHOTS PAGE.html ...
//
// At 390 and 1280 pixels, light and dark: no error on the console, no request beyond the page itself,
// nothing that axe finds serious or critical, no horizontal scrolling, values by keyboard and pointer,
// axes that can be chosen. On paper: no chart cut off. Screenshots go to SHOTS, to be looked at.
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [executablePath, shots, ...pages] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const failures = [];

function check(holds, what) {
  if (!holds) failures.push(what);
}

async function open(browser, file, options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const address = pathToFileURL(resolve(file)).href;
  const where = `${basename(file)} ${options.viewport.width} ${options.colorScheme}`;
  page.on("console", (message) => {
    check(!["error", "warning"].includes(message.type()), `${where}: console: ${message.text()}`);
  });
  page.on("pageerror", (error) => check(false, `${where}: script: ${error.message}`));
  page.on("request", (request) => {
    const url = request.url();
    check(url.split("#")[0] === address || url.startsWith("data:"), `${where}: asks for ${url}`);
  });
  await page.goto(address);
  return { context, page, where };
}

async function accessible(page, where) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  for (const violation of found.violations) {
    if (!["serious", "critical"].includes(violation.impact)) continue;
    const places = violation.nodes.slice(0, 3).map((node) => node.target.join(" ")).join("; ");
    check(false, `${where}: axe: ${violation.id} (${violation.impact}) at ${places}`);
  }
}

async function fitsItsWidth(page, where) {
  const width = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  check(width[0] <= width[1], `${where}: scrolls sideways, ${width[0]} in ${width[1]} pixels`);
}

// Every chart that can be read is reached by Tab and answers the arrow keys.
async function readableByKeyboard(page, where) {
  const count = await page.locator(".cursor").count();
  check(count > 0, `${where}: no chart can be read`);
  const reached = new Set();
  for (let i = 0; i < 400 && reached.size < count; i++) {
    await page.keyboard.press("Tab");
    const index = await page.evaluate(() =>
      Array.from(document.querySelectorAll(".cursor")).indexOf(document.activeElement));
    if (index < 0) continue;
    reached.add(index);
    const readout = page.locator(".readout").nth(index);
    const first = await readout.textContent();
    await page.keyboard.press("ArrowRight");
    const second = await readout.textContent();
    await page.keyboard.press("End");
    const last = await readout.textContent();
    const id = await readout.evaluate((node) => node.closest("figure").id);
    check(first !== second || second !== last, `${where}: ${id}: arrow keys change nothing (${first})`);
    check(!/undefined|NaN|null/.test(first + second + last), `${where}: ${id}: reads ${first} ${second}`);
    check((await readout.getAttribute("aria-live")) === "polite", `${where}: ${id}: is not announced`);
    await page.keyboard.press("Escape");
  }
  check(reached.size === count, `${where}: Tab reaches ${reached.size} of ${count} charts`);
}

async function readableByPointer(page, where) {
  const plots = page.locator(".plot:has(.cursor)");
  for (let i = 0; i < (await plots.count()); i++) {
    await plots.nth(i).scrollIntoViewIfNeeded();
    const box = await plots.nth(i).boundingBox();
    const readout = plots.nth(i).locator("xpath=following-sibling::p[contains(@class, 'readout')]");
    let read = false;
    for (let step = 1; step < 20 && !read; step++) {
      for (const height of [0.3, 0.5, 0.7]) {
        await page.mouse.move(box.x + (box.width * step) / 20, box.y + box.height * height);
        read = read || !(await readout.getAttribute("class")).includes("idle");
      }
    }
    check(read, `${where}: chart ${i + 1} says nothing to the pointer`);
  }
  await page.mouse.move(0, 0);
}

async function axesCanBeChosen(page, where) {
  const planes = page.locator("figure:has(select)");
  for (let i = 0; i < (await planes.count()); i++) {
    const plane = planes.nth(i);
    const look = () => plane.locator(".plot > svg").first().innerHTML();
    const before = await look();
    const select = plane.locator("select").first();
    await select.selectOption({ index: (await select.locator("option").count()) - 1 });
    check(before !== (await look()), `${where}: plane ${i + 1}: choosing an axis changes nothing`);
    await select.selectOption({ index: 0 });
  }
}

async function wholeOnPaper(browser, file) {
  const { context, page, where } = await open(browser, file, {
    viewport: { width: 794, height: 1123 }, colorScheme: "light",
  });
  await page.emulateMedia({ media: "print" });
  const cut = await page.evaluate(() =>
    Array.from(document.querySelectorAll(".plot > svg"))
      .filter((svg) => svg.getClientRects().length > 0)
      .filter((svg) => svg.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
      .map((svg) => svg.closest("figure").id));
  check(cut.length === 0, `${where}: cut off on paper: ${cut.join(", ")}`);
  await page.pdf({ path: join(shots, `${basename(file, ".html")}.pdf`), format: "A4" });
  await context.close();
}

mkdirSync(shots, { recursive: true });
const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
for (const file of pages) {
  for (const width of [390, 1280]) {
    for (const colorScheme of ["light", "dark"]) {
      const { context, page, where } = await open(browser, file, {
        viewport: { width, height: 900 }, colorScheme, hasTouch: width === 390,
      });
      await accessible(page, where);
      await fitsItsWidth(page, where);
      if (colorScheme === "light") {
        await readableByKeyboard(page, where);
        await readableByPointer(page, where);
        await axesCanBeChosen(page, where);
        await page.evaluate(() => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
        await fitsItsWidth(page, `${where} unfolded`);
        await accessible(page, `${where} unfolded`);
        await page.evaluate(() => document.querySelectorAll("details").forEach((d) => { d.open = false; }));
      }
      check(await page.evaluate(() => window.hacked === undefined), `${where}: a name ran as script`);
      await page.evaluate(() => window.scrollTo(0, 0));
      const name = `${basename(file, ".html")}-${width}-${colorScheme}.png`;
      await page.screenshot({ path: join(shots, name), fullPage: true });
      await context.close();
    }
  }
  await wholeOnPaper(browser, file);
}
await browser.close();
for (const failure of failures) console.error(failure);
console.log(failures.length
  ? `browser test: ${failures.length} failures`
  : `browser test: ${pages.length} pages, all well; screenshots in ${shots}`);
process.exit(failures.length ? 1 : 0);
