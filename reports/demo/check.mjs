// The work of reports/demo/check: every finding is a line; the exit code is 1 if there is one.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.env.PAGE_CHECK_PACKAGES, "package.json"));
const puppeteer = require("puppeteer-core").default ?? require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const { HtmlValidate } = require("html-validate");

const [report, folder] = process.argv.slice(2);
const widths = [360, 768, 1280];
const themes = ["light", "dark"];
const findings = [];

async function validate() {
  const rules = {
    extends: ["html-validate:standard", "html-validate:document"],
    rules: {
      // A matter of taste that the template engine does not share.
      "no-trailing-whitespace": "off",
      "void-style": "off",
      "doctype-style": "off",
      // Charts are checked by the browser; this rule takes a picture for a landmark.
      "prefer-native-element": ["error", { exclude: ["img", "region"] }],
      // A data link is as long as its table.
      "long-title": "off",
      "no-inline-style": "error",
    },
  };
  const result = await new HtmlValidate(rules).validateString(readFileSync(report, "utf8"));
  for (const { messages } of result.results) {
    for (const { ruleId, message, line, column } of messages) {
      findings.push(`html: ${line}:${column} ${ruleId}: ${message}`);
    }
  }
}

// Runs in the page: what a reader would see as broken.
function seen() {
  const found = [];
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 0) found.push(`the page is ${wide} px wider than the screen`);
  // Data that is folded away may scroll, and all may on a screen that is small.
  for (const box of document.querySelectorAll("section > .scroll")) {
    if (innerWidth >= 1280 && box.scrollWidth > box.clientWidth) found.push(`${box.querySelector("table").id} scrolls`);
  }
  for (const chart of document.querySelectorAll("figure svg.chart[role=img]")) {
    const frame = chart.getBoundingClientRect();
    if (frame.width === 0) continue;
    const name = chart.closest("figure").id;
    const words = [...chart.querySelectorAll("text")].map((text) => ({
      text: text.textContent.trim(),
      box: text.getBoundingClientRect(),
      size: parseFloat(getComputedStyle(text).fontSize) * (frame.width / chart.viewBox.baseVal.width),
    }));
    for (const { text, box, size } of words) {
      if (size < 11) found.push(`${name}: '${text}' is ${size.toFixed(1)} px small`);
      const isCut = box.left < Math.min(frame.left, 0) - 1 || box.right > frame.right + 8 || box.top < frame.top - 1;
      if (isCut || box.right > innerWidth || box.bottom > frame.bottom + 1) found.push(`${name}: '${text}' is cut`);
    }
    for (const [place, one] of words.entries()) {
      for (const other of words.slice(place + 1)) {
        const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
        const down = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
        // Boxes have room above and below their letters.
        if (across > 1 && down > 4) found.push(`${name}: '${one.text}' lies on '${other.text}'`);
      }
    }
  }
  return found;
}

// On a busy machine all comes late.
const PATIENCE = 300_000;

async function opened(browser) {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE);
  return page;
}

async function look(browser, width, theme) {
  const page = await opened(browser);
  await page.setBypassCSP(true);
  page.on("request", (request) => {
    if (!/^(file|data):/.test(request.url())) findings.push(`${width} ${theme}: asks for ${request.url()}`);
  });
  page.on("console", (message) => findings.push(`${width} ${theme}: console: ${message.text()}`));
  await page.setViewport({ width, height: 900, isMobile: width < 500, hasTouch: width < 500 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
  await page.goto(pathToFileURL(report).href);
  if (folder) await page.screenshot({ path: join(folder, `${width}-${theme}.png`), fullPage: true });
  for (const found of await page.evaluate(seen)) findings.push(`${width} ${theme}: ${found}`);
  // What is folded away is read by somebody, too.
  await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
  for (const found of await page.evaluate(seen)) findings.push(`${width} ${theme}, unfolded: ${found}`);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run(document));
  for (const { id, impact, help, nodes } of violations) {
    const line = `${width} ${theme}: axe: ${impact}: ${id}: ${help} (${nodes.length}: ${nodes[0].html.slice(0, 120)})`;
    if (["serious", "critical"].includes(impact)) findings.push(line);
    else console.log(`note: ${line}`);
  }
  await page.close();
}

async function print(browser) {
  const page = await opened(browser);
  // 180 mm: A4 less the margins below.
  await page.setViewport({ width: 680, height: 900 });
  await page.emulateMediaType("print");
  await page.goto(pathToFileURL(report).href);
  const cut = await page.evaluate(() =>
    [...document.querySelectorAll("table")].filter((table) => table.getBoundingClientRect().right > innerWidth + 1).map(({ id }) => id),
  );
  for (const id of cut) findings.push(`paper: ${id} is cut`);
  await page.emulateMediaType();
  const paper = await page.pdf({ format: "A4", margin: { top: "15mm", bottom: "15mm", left: "15mm", right: "15mm" } });
  if (folder) (await import("node:fs")).writeFileSync(join(folder, "paper.pdf"), paper);
  await page.close();
}

await validate();
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM,
  timeout: PATIENCE,
  protocolTimeout: 600_000,
  args: ["--no-sandbox", "--force-color-profile=srgb", "--hide-scrollbars"],
});
try {
  for (const width of widths) for (const theme of themes) await look(browser, width, theme);
  await print(browser);
} finally {
  await browser.close();
}
const lines = [...new Set(findings)];
for (const line of lines) console.log(line);
console.log(`${report}: ${lines.length} findings at ${widths.join(", ")} px, by ${themes.join(" and ")}, and on paper`);
process.exit(lines.length ? 1 : 0);
