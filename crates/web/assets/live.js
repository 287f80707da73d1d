// Keeps an open page up to date. One tab of the browser receives the hub's events for all tabs: browsers open few connections to one server.
import { Idiomorph } from "./idiomorph.js";

const UPDATE_MS = 1000;
const RETRY_MS = 5000;
const POLL_MS = 15_000;
const LOCK = "kalypso-events";
const KINDS = ["desired", "report", "silent", "resumed", "promotion"];

const isPast = new URLSearchParams(location.search).has("at");
let pending = 0;
let isPaused = localStorage.getItem("kalypso-paused") === "1";
let timer = 0;
let fetchedAt = 0;
let shownAt = new Date();
let failing = false;
/** Whether the session of the reader has ended: pages lead to sign-in. */
let isSignedOut = false;
/** What is known of the stream of events: "wait", "open" or "lost". */
let stream = "wait";
let localize = () => {};

const state = document.querySelector("#live");

/** Shows a text: alone, on a button that acts, or as a link to an address. */
function say(text, act) {
  if (!state) return;
  state.classList.toggle("stale", failing || isSignedOut);
  if (typeof act === "string") {
    // It is written once, so that it keeps the focus.
    if (state.querySelector("a")?.href === new URL(act, location).href) return;
    const link = document.createElement("a");
    Object.assign(link, { href: act, textContent: text });
    state.replaceChildren(link);
  } else if (act) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", act);
    state.replaceChildren(button);
  } else if (state.textContent !== text) {
    state.textContent = text;
  }
}

function show() {
  const changes = pending === 1 ? "1 change: show" : `${pending} changes: show`;
  if (isSignedOut) say("signed out: sign in", `/sign-in?return=${encodeURIComponent(location.pathname + location.search)}`);
  else if (failing) say(`out of date since ${shownAt.toLocaleTimeString()}`);
  else if (isPaused) say(pending ? `paused, ${changes}` : "paused", () => pending ? update(true) : pause());
  else if (pending && isHeld()) say(changes, () => update(true));
  else say({ wait: "connecting", open: "live", lost: "updated every 15 s" }[stream]);
}

function pause() {
  isPaused = !isPaused;
  localStorage.setItem("kalypso-paused", isPaused ? "1" : "0");
  if (isPaused) show();
  else schedule();
}

/** Whether rows could move under the pointer or the focus. */
function isHeld() {
  return Boolean(document.querySelector("main [data-rows]:hover, main [data-rows]:focus-within, main .filter:focus-within"));
}

/** The order of the rows of a page. */
const order = (root) => [...root.querySelectorAll("[data-key]")].map((row) => row.dataset.key).join("\n");

/** The page as it is now. None: the reader has to sign in, which is the only redirect of a page. */
async function load() {
  const response = await fetch(location.href, { headers: { accept: "text/html" }, redirect: "manual" });
  if (response.type === "opaqueredirect") return null;
  if (response.status >= 500) throw new Error(response.statusText);
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  // A page that did not change comes from the browser's store, with the time of this answer.
  const made = page.querySelector("#age time");
  const date = new Date(response.headers.get("date"));
  if (made && !Number.isNaN(date.getTime())) made.dateTime = made.textContent = date.toISOString();
  return page;
}

async function update(isAsked = false) {
  clearTimeout(timer);
  timer = 0;
  fetchedAt = Date.now();
  let page;
  try {
    page = await load();
    failing = false;
    isSignedOut = !page;
  } catch {
    failing = true;
  }
  if (failing || isSignedOut) {
    show();
    // The hub may answer again, and the reader may sign in elsewhere.
    timer = setTimeout(update, failing ? RETRY_MS : POLL_MS);
    return;
  }
  const [own, next] = [document.querySelector("main"), page.querySelector("main")];
  if (!own || !next) return;
  if (!isAsked && isHeld() && order(own) !== order(next)) {
    pending = Math.max(pending, 1);
    return show();
  }
  pending = 0;
  shownAt = new Date();
  Idiomorph.morph(own, next, { morphStyle: "outerHTML", ignoreActiveValue: true });
  const [age, nextAge] = [document.querySelector("#age"), page.querySelector("#age")];
  if (age && nextAge) age.replaceChildren(...nextAge.childNodes);
  localize(document);
  show();
}

/** Updates the page soon: at most once a second. */
function schedule() {
  if (isPaused || document.hidden) return show();
  if (!timer) timer = setTimeout(update, Math.max(0, fetchedAt + UPDATE_MS - Date.now()));
}

function changed() {
  pending += 1;
  schedule();
}

/** Receives the events for all tabs, as long as this tab lives. */
function lead(channel) {
  let changedAt = 0;
  const tell = (message) => {
    channel.postMessage(message);
    hear(message);
  };
  const connect = () => {
    const source = new EventSource("/api/v1/events");
    const change = () => {
      changedAt = Date.now();
      tell("change");
    };
    for (const kind of KINDS) source.addEventListener(kind, change);
    source.addEventListener("open", () => tell("open"));
    source.addEventListener("error", () => {
      tell("lost");
      // The browser tries again by itself, except after an answer that is no stream.
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, POLL_MS);
    });
  };
  connect();
  // A tab that was opened just now may have missed a change.
  channel.addEventListener("message", ({ data }) => {
    if (data === "hello") channel.postMessage(Date.now() - changedAt < RETRY_MS ? "change" : stream);
  });
  return new Promise(() => {});
}

/** Hears what the tab with the stream says. */
function hear(message) {
  if (message === "change") {
    stream = "open";
    changed();
  } else if (message === "open" || message === "lost") {
    if (stream === message) return;
    stream = message;
    // What changed before the stream was open is not in it. Without a stream, the page shows at once whether the hub still answers.
    schedule();
  }
}

/** Without a stream, the page is read again and again. */
function poll() {
  if (stream !== "open") schedule();
}

/** Follows the hub's events. `localized` is called with the document after each update. */
export function follow(localized) {
  localize = localized;
  document.addEventListener("kalypso:pause", pause);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    if (isSignedOut) update();
    else if (pending) schedule();
  });
  document.addEventListener("pointerout", () => { if (pending && !isHeld()) schedule(); });
  if (isPast) return;
  if (document.querySelector("[data-retry]")) setTimeout(() => location.reload(), RETRY_MS);
  show();
  const channel = new BroadcastChannel(LOCK);
  channel.addEventListener("message", ({ data }) => hear(data));
  channel.postMessage("hello");
  navigator.locks.request(LOCK, () => lead(channel));
  setInterval(poll, POLL_MS);
}
