"use strict";
// Shows runs and follows one of them. Every text from a run is set as text, never as HTML.
const byId = (id) => document.getElementById(id);
const count = (value) => (value === null || value === undefined ? "–" : Math.round(value).toLocaleString("en"));
const short = (value, digits) => (typeof value !== "number" ? "–" : value !== 0 && Math.abs(value) < 0.001 ? value.toExponential(digits - 2) : value.toPrecision(digits));
const percent = (value) => (typeof value === "number" ? (100 * value).toFixed(1) + " %" : "–");
const rate = (value) => (typeof value !== "number" ? "–" : value >= 1000 ? (value / 1000).toPrecision(3) + " k" : value.toPrecision(3));
const seconds = (value) => (typeof value !== "number" ? "–" : value < 1 ? (1000 * value).toPrecision(4) + " ms" : value.toPrecision(4) + " s");
const stateOf = (run) => (run.incomplete ? "incomplete" : run.state);
const gib = (value) => (typeof value === "number" ? (value / 2 ** 30).toPrecision(3) + " GiB" : "–");

const CHARTS = [
  ["loss", "Loss", (v) => short(v, 4)],
  ["tokens_per_s", "Tokens per second", rate],
  ["step_s", "Step time", seconds],
  ["exposed", "Exposed communication", percent],
  ["memory", "Peak memory", gib],
  ["grad_norm", "Gradient norm", (v) => short(v, 3)],
  ["lr", "Learning rate", (v) => short(v, 3)],
  // Only some runs have the following.
  ["reward", "Reward", (v) => short(v, 3)],
  ["reward_margin", "Reward margin", (v) => short(v, 3)],
  ["reward_accuracy", "Chosen above rejected", percent],
  ["kl", "Divergence from the reference", (v) => short(v, 3)],
  ["clip_share", "Clipped ratios", percent],
  ["sampler_gap", "Gap to the sampling server", (v) => short(v, 3)],
  ["completion_tokens", "Completion length", (v) => short(v, 4)],
  ["nll", "NLL of the chosen", (v) => short(v, 4)],
  ["router_loss", "Router loss", (v) => short(v, 3)],
];
const FIGURES = [
  ["Step", (run) => count(run.step) + (run.total_steps ? " / " + count(run.total_steps) : "")],
  ["Loss", (run) => short(run.loss, 4)],
  ["Tokens per second", (run) => rate(run.tokens_per_s)],
  ["Step time", (run) => seconds(run.step_s)],
  ["Exposed communication", (run) => percent(run.exposed)],
  ["Ranks", (run) => count(run.ranks)],
];

let live = null;
let plots = new Map();

function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function notice(text) {
  byId("notice").textContent = text;
  byId("notice").hidden = !text;
}

function leave() {
  if (live) live.close();
  live = null;
  for (const plot of plots.values()) plot.destroy();
  plots = new Map();
  byId("charts").replaceChildren();
  byId("figures").replaceChildren();
  byId("lines").replaceChildren();
}

async function showList() {
  leave();
  byId("run").hidden = true;
  byId("all").hidden = true;
  byId("list").hidden = false;
  byId("title").textContent = document.title = "Runs";
  byId("state").textContent = "";
  const answer = await fetch("runs");
  if (!answer.ok) return notice("The server does not answer.");
  const runs = await answer.json();
  if (runs.length === 1 && !location.hash) {
    location.replace("#" + encodeURIComponent(runs[0].name));
    return;
  }
  notice(runs.length ? "" : "There are no runs.");
  byId("list").replaceChildren(...runs.map((run) => {
    const row = element("a", undefined, "run");
    row.href = "#" + encodeURIComponent(run.name);
    row.append(element("strong", run.name), element("span", stateOf(run)),
      element("span", "step " + count(run.step) + (run.total_steps ? " of " + count(run.total_steps) : "")),
      element("span", "loss " + short(run.loss, 4)));
    return row;
  }));
}

function follow(name) {
  leave();
  byId("list").hidden = true;
  byId("run").hidden = false;
  byId("title").textContent = document.title = name;
  fetch("runs").then((answer) => answer.json()).then((runs) => { byId("all").hidden = runs.length < 2; }).catch(() => {});
  live = new EventSource("live/" + encodeURIComponent(name));
  live.onmessage = (message) => show(JSON.parse(message.data));
  live.onerror = () => notice("Not connected. What is shown was read before.");
}

function show(run) {
  notice(run.problem ? "This run cannot be read: " + run.problem : "");
  if (run.problem) return;
  byId("state").textContent = stateOf(run) + (run.attempt > 1 ? ", attempt " + run.attempt : "");
  const verdict = byId("verdict");
  verdict.className = "verdict " + run.urgency;
  verdict.children[0].textContent = run.verdict;
  verdict.children[1].textContent = run.why;
  verdict.children[2].textContent = run.next;
  byId("bar").firstElementChild.style.width = run.total_steps && run.step ? Math.min(100, (100 * run.step) / run.total_steps) + "%" : "0";
  byId("figures").replaceChildren(...FIGURES.map(([title, text]) => {
    const box = element("div");
    box.append(element("dt", title), element("dd", text(run)));
    return box;
  }));
  byId("lines").replaceChildren(...[...run.lines].reverse().map((line) => {
    const item = element("li");
    item.append(element("time", new Date(1000 * line.t).toLocaleString()), "rank " + line.rank + ": " + line.text);
    return item;
  }));
  for (const chart of CHARTS) draw(chart, run);
}

// Marks stand at the drawn points next to their steps: a long run is drawn with fewer points than it has steps.
function marksOf(run, title, rows) {
  const steps = rows.map(([step]) => step);
  const near = (step) => steps.reduce((best, one) => (Math.abs(one - step) < Math.abs(best - step) ? one : best));
  const marks = run.checkpoints.map((step) => ({ step, shortText: "✓", text: "checkpoint of step " + step, attachAtBottom: true }))
    .concat(run.alerts.map(({ step, message }) => ({ step, shortText: "!", text: message, cssClass: "alert" })));
  return marks.filter(({ step }) => step >= steps[0] && step <= steps[steps.length - 1])
    .map(({ step, ...mark }) => ({ ...mark, series: title, x: near(step) }));
}

function draw([key, title, format], run) {
  const curve = run.curves[key];
  if (!curve || !run.curves.step) return;
  const rows = run.curves.step.map((step, at) => [step, [curve.low[at], curve.mean[at], curve.high[at]]])
    .filter(([step, values]) => step !== null && values[1] !== null);
  if (!rows.length) return;
  if (typeof Dygraph === "undefined") return notice("Charts need Debian's package libjs-dygraphs on the server.");
  const marks = marksOf(run, title, rows);
  if (plots.has(key)) {
    plots.get(key).setAnnotations(marks, true);  // drawn with the new rows
    plots.get(key).updateOptions({ file: rows });
    return;
  }
  const box = element("div");
  const plot = element("div", undefined, "plot");
  box.append(element("h2", title), plot);
  byId("charts").append(box);
  const style = getComputedStyle(document.documentElement);
  plots.set(key, new Dygraph(plot, rows, {
    labels: ["step", title], customBars: true, colors: [style.getPropertyValue("--accent").trim()], strokeWidth: 1.5,
    gridLineColor: style.getPropertyValue("--line").trim(), axisLineColor: style.getPropertyValue("--line").trim(),
    axes: { y: { axisLabelFormatter: format, valueFormatter: format, axisLabelWidth: 64 }, x: { valueFormatter: (v) => "step " + count(v) } },
    legend: "follow", animatedZooms: false,
  }));
  if (marks.length) plots.get(key).setAnnotations(marks);
}

function route() {
  let name = location.hash.slice(1);
  try { name = decodeURIComponent(name); } catch { name = ""; }
  if (name) follow(name);
  else showList().catch(() => notice("The server does not answer."));
}
addEventListener("hashchange", route);
byId("all").addEventListener("click", (event) => { event.preventDefault(); history.pushState(null, "", "#"); showList(); });
route();
