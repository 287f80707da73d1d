// What pages do with scripts: keys, local times, and updates in place. Every page works without this file.
import { follow } from "./live.js";

const isTyping = (target) => target.closest?.("input, textarea, select, [contenteditable]");

/** Adds the local time to each time, which pages show as an age, with UTC in its title. */
export function localize(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (!Number.isNaN(at.getTime())) time.title = `${at.toLocaleString()} (local)\n${time.dateTime}`;
  }
}

/** The rows of the list that has the focus, or of the first list. */
function rows() {
  const table = document.activeElement?.closest("[data-rows]") ?? document.querySelector("[data-rows]");
  return table ? [...table.tBodies[0].rows] : [];
}

/** Moves the focus to the next or previous row: to its first link, or to the row itself. */
function move(step) {
  const all = rows();
  if (all.length === 0) return;
  const current = all.indexOf(document.activeElement?.closest("tr"));
  const row = all[Math.min(all.length - 1, Math.max(0, current < 0 ? 0 : current + step))];
  const target = row.querySelector("a") ?? row;
  if (target === row) row.tabIndex = -1;
  target.focus();
  row.scrollIntoView({ block: "nearest" });
}

const WALK = "kalypso-list";
const here = () => location.pathname + location.search;
const local = (link) => link.pathname + link.search;

/** Keeps the list that a reader leaves, so that the pages of its rows lead to the next and the previous one. */
function leave(event) {
  const link = event.target.closest?.("[data-rows] tbody a");
  if (!link) return;
  const column = link.closest("td, th").cellIndex;
  const links = rows().map((row) => row.cells[column]?.querySelector("a")).filter(Boolean).map(local);
  sessionStorage.setItem(WALK, JSON.stringify({ list: here(), links: [...new Set(links)] }));
}

/** Shows where this page is in the list that the reader came from. */
function walk() {
  const { list, links = [] } = JSON.parse(sessionStorage.getItem(WALK) ?? "{}");
  const nav = document.querySelector("#walk");
  const position = links.indexOf(here());
  if (!nav || position < 0 || links.length < 2) return;
  const link = (to, text, rel) => {
    const a = document.createElement("a");
    Object.assign(a, { href: to, textContent: text, rel });
    return a;
  };
  const parts = [`${position + 1} of ${links.length} in `, link(list, "the list", "up")];
  if (position > 0) parts.unshift(link(links[position - 1], "‹ previous", "prev"), " ");
  if (position + 1 < links.length) parts.push(" ", link(links[position + 1], "next ›", "next"));
  nav.replaceChildren(...parts);
  nav.hidden = false;
}

let isGoing = false;

function go(key) {
  const link = [...document.querySelectorAll("[data-go]")].find((one) => one.dataset.go === key);
  if (link) link.click();
  return Boolean(link);
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (isGoing) {
    isGoing = false;
    if (go(event.key)) event.preventDefault();
    return;
  }
  const acts = {
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    g: () => { isGoing = true; },
    "[": () => document.querySelector("#walk [rel=prev]")?.click(),
    "]": () => document.querySelector("#walk [rel=next]")?.click(),
    p: () => document.dispatchEvent(new Event("kalypso:pause")),
    "/": () => document.querySelector(".search input")?.select(),
    f: () => document.querySelector(".filter input:not([type=hidden])")?.focus(),
    "?": () => document.querySelector("#keys")?.showModal(),
  };
  const isArrow = event.key.startsWith("Arrow");
  if (isArrow && !event.target.closest?.("[data-rows]")) return;
  if (!Object.hasOwn(acts, event.key)) return;
  event.preventDefault();
  acts[event.key]();
}

const SEARCH_MS = 120;

/** Shows what the box for searches finds while one types. */
function search() {
  const box = document.querySelector(".search input");
  const found = document.querySelector("#found");
  if (!box || !found) return;
  let timer = 0;
  let last = "";
  const hide = () => { found.hidden = true; };
  const find = async () => {
    const words = box.value.trim();
    if (words === last) return;
    last = words;
    if (!words) return hide();
    const response = await fetch(`/search?limit=6&q=${encodeURIComponent(words)}`, { headers: { accept: "text/html" } }).catch(() => null);
    // An answer that came late is for other words.
    if (!response?.ok || last !== words) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    found.replaceChildren(...(page.querySelector("#hits")?.childNodes ?? []));
    found.hidden = false;
  };
  const step = (event) => {
    if (event.key === "Escape") {
      hide();
      box.focus();
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const links = [box, ...found.querySelectorAll("a")];
    const next = links[links.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1)];
    if (!next || found.hidden) return;
    event.preventDefault();
    next.focus();
  };
  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(find, SEARCH_MS);
  });
  box.form.addEventListener("keydown", step);
  box.form.addEventListener("focusout", ({ relatedTarget }) => { if (!box.form.contains(relatedTarget)) hide(); });
}

document.addEventListener("keydown", keys);
document.addEventListener("click", leave);
localize(document);
walk();
search();
follow(localize);
