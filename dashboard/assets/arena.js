import { marks } from "./marks.js";

// HTML of our own, all of it escaped: put in its place, kept where it is the same, links opened in the app.
export default function ({ data, parentElement }) {
  const place = parentElement.querySelector(".place");
  const html = new TextDecoder().decode(data);
  draws += 1;
  if (place.shown !== html) {
    renew(place, html);
    place.shown = html;
  }
  const style = parentElement.querySelector("link[rel=stylesheet]");
  if (!style || style.sheet) drawn(place);
  else style.onload = style.onerror = () => drawn(place);
  place.onclick = (event) => {
    const link = event.target.closest("a[href]:not([target])");
    if (link && event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)) {
      event.preventDefault();
      leadOn(link.getAttribute("href"));
    }
  };
}

let draws = 0;
let linked = location.hash.slice(1); // the chart that a link leads to: browsers look for none in a component

// Until then it is not seen, and nothing that follows it: see streamlit.css.
function drawn(place) {
  const root = place.getRootNode();
  root.host?.setAttribute("data-drawn", "");
  const chart = root.getElementById?.(linked);
  if (!chart) return;
  linked = "";
  chart.scrollIntoView();
}

// Streamlit goes where the history says. A page that hears nothing for five seconds is loaded anew.
function leadOn(href, looks = 20) {
  const from = location.href;
  const before = draws;
  visit(new URL(href, from).href);
  const to = location.href;
  const look = () => {
    if (location.href !== to || to === from || draws !== before) return;
    if (looks--) setTimeout(look, 250);
    else location.reload();
  };
  look();
}

function renew(place, html) {
  const fresh = document.createElement("template");
  fresh.innerHTML = html;
  place.querySelectorAll("table").forEach(unsort);
  morph(place, fresh.content);
  ready(place);
  marks(place);
}

// What is the same stays, with all that a reader has opened, focused or scrolled in it.
function morph(old, fresh) {
  const before = [...old.childNodes];
  const after = [...fresh.childNodes];
  after.forEach((node, at) => {
    const there = before[at];
    if (!there) old.append(node);
    else if (!isAlike(there, node)) there.replaceWith(node);
    else if (there.nodeType !== Node.ELEMENT_NODE) { if (there.data !== node.data) there.data = node.data; }
    else if (!there.isEqualNode(node)) {
      dress(there, node);
      morph(there, node);
    }
  });
  before.slice(after.length).forEach((node) => node.remove());
}

function isAlike(old, fresh) {
  if (old.nodeName !== fresh.nodeName) return false;
  return old.nodeName !== "DETAILS" || old.firstChild.isEqualNode(fresh.firstChild);
}

function dress(old, fresh) {
  const stays = old.nodeName === "DETAILS" ? "open" : "";
  for (const { name } of [...old.attributes]) if (name !== stays && !fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (name !== stays && old.getAttribute(name) !== value) old.setAttribute(name, value);
}

// For the app and for sites.
const inUse = new Set();

function ready(place) {
  inUse.add(place);
  place.querySelectorAll("tbody").forEach((body) => [...body.rows].forEach((row, at) => { row.number = at; }));
  place.querySelectorAll("table").forEach(sort);
  tell(place);
}

function visit(href) {
  history.pushState({}, "", href);
  dispatchEvent(new PopStateEvent("popstate"));
}

addEventListener("popstate", () => {
  for (const place of inUse) {
    if (place.isConnected) place.querySelectorAll("table").forEach(sort);
    else inUse.delete(place);
  }
});

// The order of each table is in the address: its name, the column's key, and up or down.
const named = (table) => table.getAttribute("aria-label").toLowerCase().replace(/[^a-z0-9]+/g, "-");

function orders() {
  const all = new Map();
  for (const text of (new URLSearchParams(location.search).get("order") ?? "").split("*")) {
    const [, name, key, way] = text.match(/^(.*?)\.(.*)\.(ascending|descending)$/) ?? [];
    if (name !== undefined) all.set(name, { key, way });
  }
  return all;
}

addEventListener("click", (event) => {
  const header = event.composedPath()[0].closest?.("th button")?.parentElement;
  if (!header) return;
  const table = header.closest("table");
  const { key, kind } = header.dataset;
  const first = kind === "number" ? "descending" : "ascending";
  const then = { [first]: first === "ascending" ? "descending" : "ascending" };
  const all = orders();
  const before = all.get(named(table));
  const way = before?.key === key ? then[before.way] : first;
  if (way) all.set(named(table), { key, way });
  else all.delete(named(table));

  const to = new URL(location.href);
  to.searchParams.delete("order");
  if (all.size) to.searchParams.set("order", [...all].map(([name, order]) => [name, order.key, order.way].join(".")).join("*"));
  visit(to.href);
});

function unsort(table) {
  rearrange(table, (one, other) => one.number - other.number);
}

// Groups of rows stay apart, each in its order.
function rearrange(table, compare) {
  table.querySelectorAll("tbody:not(.group)").forEach((body) => body.append(...[...body.rows].sort(compare)));
}

function sort(table) {
  const order = orders().get(named(table));
  const headers = [...table.querySelectorAll("thead th[aria-sort]")];
  const header = headers.find((header) => header.dataset.key === order?.key);
  if (!header && headers.every((header) => header.ariaSort === "none")) return;
  headers.forEach((one) => one.setAttribute("aria-sort", one === header ? order.way : "none"));
  if (!header) { unsort(table); return; }

  const value = ({ cells }) => cells[header.cellIndex].dataset.value ?? cells[header.cellIndex].textContent;
  const compare = (a, b) => (header.dataset.kind === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true }));
  rearrange(table, (one, other) => {
    const [a, b] = [value(one), value(other)];
    if (a === "" || b === "") return (a === "") - (b === "") || one.number - other.number;
    return (order.way === "ascending" ? 1 : -1) * compare(a, b) || one.number - other.number;
  });
}

// A list that hangs over the page is shut by Escape and by a click elsewhere.
function shut(event) {
  for (const list of [...inUse].flatMap((place) => [...place.querySelectorAll("details.list[open]")])) {
    if (event.key === "Escape" || (!event.key && !event.composedPath().includes(list))) list.open = false;
  }
}

addEventListener("pointerdown", shut);
addEventListener("keydown", shut);

// A table as a file: figures to the last digit, and no pictures.
addEventListener("click", (event) => {
  const button = event.composedPath()[0];
  if (!button.matches?.(".table > .csv")) return;
  const table = button.parentElement.querySelector("table");
  const headers = [...table.querySelectorAll("thead th:has(button)")];
  const rows = [...table.querySelectorAll("tbody:not(.group) tr")];
  const lines = [
    headers.map((header) => quoted(header.querySelector("button").textContent)),
    ...rows.map(({ cells }) => headers.map(({ cellIndex, dataset }) => field(cells[cellIndex], dataset.kind))),
  ];
  const href = URL.createObjectURL(new Blob([lines.join("\n")]));
  Object.assign(document.createElement("a"), { href, download: `${named(table)}.csv` }).click();
});

function field(cell, kind) {
  if (cell.matches(".none")) return "";
  if (kind !== "text") return cell.dataset.value ?? cell.textContent;
  return quoted(cell.tagName === "TH" ? cell.title : [...cell.childNodes].map((part) => part.textContent).join(" "));
}

// What a spreadsheet would take for a formula is text.
function quoted(text) {
  return `"${text.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;
}

// How long ago, and how long until: said anew each second.
const UNITS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

function lasting(seconds) {
  const at = UNITS.findIndex(([, size]) => seconds >= size);
  if (at < 0) return "0 s";
  const [unit, size] = UNITS[at];
  const rest = at < 2 ? Math.floor((seconds % size) / UNITS[at + 1][1]) : 0;
  return `${Math.floor(seconds / size)} ${unit}${rest ? ` ${rest} ${UNITS[at + 1][0]}` : ""}`;
}

function tell(place) {
  place.querySelectorAll("time[data-said]").forEach((time) => {
    const seconds = Math.floor((Date.parse(time.dateTime) - Date.now()) / 1000);
    const isNext = time.dataset.said === "next round";
    let text = `${lasting(Math.max(-seconds, 0))} ago`;
    if (isNext) text = seconds > 0 ? `in ${lasting(seconds)}` : "due";
    time.textContent = `${time.dataset.said} ${text}`;
  });
}

setInterval(() => inUse.forEach(tell), 1000);

// An instant in UTC says on hover when it was here.
const INSTANT = /\d{1,2} [A-Z][a-z]{2} \d{4}, \d{2}:\d{2} UTC/g;
const HERE = { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short" };

addEventListener("pointermove", (event) => {
  const over = event.composedPath()[0];
  if (!(over instanceof HTMLElement) || over.title || over.textContent.length > 400) return;
  const instants = over.textContent.match(INSTANT) ?? [];
  if (instants.length) over.title = instants.map((text) => new Date(text.replace(",", "")).toLocaleString(undefined, HERE)).join("; ");
});
