// A second verifier of modelsel certificates: `node verify_certificate.mjs certificate.zip [--key PUBLIC]`.
//
// Written from docs/guard/certificate.md, whose numbered statements are named in what it prints; Node 20 or later, nothing else.
// Exit 0 where all holds, 5 where something does not, 2 where it was called wrongly. It recomputes statements 1 to 9. It does
// not tell 1.0 from 1, and reads archives that are stored or deflated. Like any verifier it has seen no labels and no predictions, and a time stamp is
// for openssl.

import crypto from "node:crypto";
import fs from "node:fs";
import zlib from "node:zlib";
import { pathToFileURL } from "node:url";

const FORMAT = "modelsel certificate 1";
const NEEDED = ["certificate.json", "chain.jsonl", "signatures.json", "signature.json"];
const ALLOWED = [...NEEDED, "card.cdx.json", "README.md", "stamp.tsr"];
const LARGEST = 256 * 2 ** 20;
const MOST_ROWS = 1e9;
const MOST_COUNTS = 5e7;
const NEAR = 1e-6;
const WIDE = 1e-5; // how far limits that were found by another method may be apart
const FAILED = -Math.log1p(-1e-6);
const CLAIMED_OF_LOOK = ["look", "spent", "n", "delta", "release", "metric", "certified", "at", "cv_mean", "cv_rows"];
const CLAIMED_OF_ANSWER = ["symbol", "score", "errors", "interval", "price"];
const CLAIMED_APART = ["units", "withheld", "plan"];
const CLAIMED_BESIDE = ["intent", "asker", "predictions_sha256", "answers", "verdicts", "superseded"];
const COUNTED_SYMBOLS = ["count", "cell", "pass", "fail"];
const SHARES = ["error", "within", "error_quantiles"];

export function verify(path, key = null) {
  const verdict = { held: [], faults: [], unknown: [] };
  const check = (statement, holds, what) => {
    (holds ? verdict.held : verdict.faults).push({ statement, what });
    return holds;
  };
  check.unknown = (what) => verdict.unknown.push(what);
  let at = 1; // the statement at work, where a file cannot be read
  const step = (statement, work) => ((at = statement), work());
  try {
    const members = step(1, () => readZip(path));
    const facts = step(1, () => parse(members.get("certificate.json")));
    step(1, () => checkDigests(check, members, facts));
    step(2, () => checkSignature(check, members, facts, key));
    const record = new Record(step(3, () => checkChains(check, members)));
    step(4, () => record.refuseNonsense(check));
    step(5, () => checkPrices(check, record));
    step(7, () => checkClaims(check, facts, record));
    step(7, () => checkAbout(check, facts, record));
    step(8, () => checkCards(check, members, facts));
  } catch (error) {
    check(at, false, `it cannot be read as a certificate (${String(error.message).slice(0, 120)})`);
  }
  return verdict;
}

// 1. Members: a zip that is read in memory, and JSON in which no name stands twice.

function readZip(path) {
  if (fs.statSync(path).size > LARGEST) throw new Error("too large");
  const data = fs.readFileSync(path);
  const end = data.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  if (end < 0) throw new Error("no zip");
  const members = new Map();
  let total = 0;
  let place = data.readUInt32LE(end + 16);
  for (let left = data.readUInt16LE(end + 10); left > 0; left--) {
    if (data.readUInt32LE(place) !== 0x02014b50) throw new Error("no directory of a zip");
    const [method, packed, size] = [data.readUInt16LE(place + 10), data.readUInt32LE(place + 20), data.readUInt32LE(place + 24)];
    const [named, extra, comment] = [28, 30, 32].map((offset) => data.readUInt16LE(place + offset));
    const name = data.toString("utf8", place + 46, place + 46 + named);
    if (!ALLOWED.includes(name) || members.has(name)) throw new Error(`a member ${JSON.stringify(name)}`);
    total += size;
    if (total > LARGEST) throw new Error("members too large");
    const local = data.readUInt32LE(place + 42);
    const start = local + 30 + data.readUInt16LE(local + 26) + data.readUInt16LE(local + 28);
    const raw = data.subarray(start, start + packed);
    if (method !== 0 && method !== 8) throw new Error(`compression ${method} is not read here`);
    const content = method === 0 ? raw : zlib.inflateRawSync(raw, { maxOutputLength: Math.max(1, size) });
    if (content.length !== size) throw new Error(`${name} has another size than is stated`);
    members.set(name, content);
    place += 46 + named + extra + comment;
  }
  for (const name of NEEDED) if (!members.has(name)) throw new Error(`no ${name}`);
  return members;
}

const SPANS = new WeakMap(); // the text that an object was read from, which is its canonical JSON where the whole is canonical

export function parse(data) {
  const text = typeof data === "string" ? data : new TextDecoder("utf-8", { fatal: true }).decode(data);
  let place = 0;
  const fail = () => {
    throw new Error(`no JSON at ${place}`);
  };
  const space = () => {
    while (" \t\n\r".includes(text[place] ?? "x")) place++;
  };
  const take = (pattern) => {
    pattern.lastIndex = place;
    const found = pattern.exec(text);
    if (!found) fail();
    place = pattern.lastIndex;
    return found[0];
  };
  const skip = (sign) => (text[place] === sign ? ++place : fail());
  const string = () => JSON.parse(take(/"(?:[^"\\\u0000-\u001f]|\\.)*"/sy));
  const items = (last, one) => {
    place++;
    space();
    if (text[place] === last) return place++;
    for (;;) {
      one();
      space();
      if (text[place] === last) return place++;
      skip(",");
      space();
    }
  };
  const value = () => {
    space();
    const start = place;
    if (text[place] === "{") {
      const found = Object.create(null);
      items("}", () => {
        const name = string();
        if (name in found) throw new Error(`the name ${name.slice(0, 40)} stands twice`);
        space();
        skip(":");
        found[name] = value();
      });
      SPANS.set(found, text.slice(start, place));
      return found;
    }
    if (text[place] === "[") {
      const found = [];
      items("]", () => found.push(value()));
      return found;
    }
    if (text[place] === '"') return string();
    if (/[tfn]/.test(text[place] ?? "")) return JSON.parse(take(/true|false|null/y));
    const number = Number(take(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y));
    return Number.isFinite(number) ? number : fail();
  };
  const whole = value();
  space();
  return place === text.length ? whole : fail();
}

const sha256 = (data) => crypto.createHash("sha256").update(data).digest("hex");

function checkDigests(check, members, facts) {
  check(1, facts.format === FORMAT, `it is of the format "${FORMAT}"`);
  const present = Object.create(null);
  for (const [name, data] of members)
    if (!["certificate.json", "signature.json", "stamp.tsr"].includes(name)) present[name] = sha256(data);
  check(1, same(facts.members, present), "its members are those that it states");
}

// 2. Signature.

function signedBy(publicKey, message, signature) {
  if (!/^[0-9a-f]{64}$/i.test(publicKey) || !/^[0-9a-f]{128}$/i.test(signature)) return false;
  const der = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), Buffer.from(publicKey, "hex")]);
  const key = crypto.createPublicKey({ key: der, format: "der", type: "spki" });
  return crypto.verify(null, Buffer.from(`modelsel.entry.v1\0${message}`), key, Buffer.from(signature, "hex"));
}

function checkSignature(check, members, facts, key) {
  const { key: by, value } = parse(members.get("signature.json"));
  const good = signedBy(by, `modelsel.certificate.v1 ${sha256(members.get("certificate.json"))}`, value);
  check(2, good && by === facts.by, `it is signed by ${facts.by}`);
  if (key !== null) check(2, facts.by === key, "that is the key which was expected");
  else check.unknown("whose key that is: give --key");
}

// 3. Chains: every line links to the one before, every end is signed by the key that the chain's name commits to.

function entryHash(line) {
  const state = crypto.createHash("sha256").update("modelsel.ledger.v1\0");
  for (const part of [line.prev, line.replica, String(line.seq), line.kind, line.body]) {
    const raw = Buffer.from(part, "utf8");
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(raw.length));
    state.update(length).update(raw);
  }
  return state.digest("hex");
}

function checkChains(check, members) {
  const chains = new Map();
  for (const text of members.get("chain.jsonl").toString("utf8").split("\n").filter(Boolean)) {
    const line = parse(text);
    if (typeof line.replica !== "string") throw new Error("a line of no chain");
    chains.set(line.replica, [...(chains.get(line.replica) ?? []), line]);
  }
  const signatures = parse(members.get("signatures.json"));
  const entries = [];
  let withheld = 0;
  for (const [replica, lines] of chains) {
    let prev = sha256(`modelsel.genesis.v1\0${replica}`);
    let whole = true;
    lines.forEach((line, index) => {
      whole &&= line.seq === index + 1 && line.prev === prev;
      prev = line.hash;
      if (line.body === undefined) return withheld++;
      whole &&= line.hash === entryHash(line);
      entries.push({ place: { replica, seq: line.seq }, kind: line.kind, hash: line.hash, facts: parse(line.body) });
    });
    check(3, whole, `chain ${replica.slice(0, 12)} holds, entry by entry (${lines.length})`);
    const { key, value } = signatures[replica] ?? { key: "", value: "" };
    const salt = replica.slice(0, 8);
    const owned = replica === salt + sha256(`modelsel.replica.v2\0${key}${salt}`).slice(0, 24);
    check(3, owned && signedBy(key, prev, value), `its end is signed by the key that may write it, ${key.slice(0, 16)}`);
  }
  if (withheld) check.unknown(`what ${withheld} entries say whose contents are withheld`);
  return entries.sort((one, other) => compare(one.place, other.place));
}

const compare = (one, other) => (one.replica === other.replica ? one.seq - other.seq : one.replica < other.replica ? -1 : 1);
const isAt = (one, other) => one.replica === other.replica && one.seq === other.seq;

// 4. Place: what was on record before a look.

class Record {
  constructor(entries) {
    this.entries = entries;
    this.intents = this.of("intent");
    this.commits = this.of("commit");
    this.looks = new Map(this.intents.map((entry) => [entry.facts.id, entry]));
    this.ends = new Map();
    for (const entry of entries)
      if ((entry.kind === "reveal" || entry.kind === "abort") && !this.ends.has(entry.facts.intent)) this.ends.set(entry.facts.intent, entry);
  }

  of(kind) {
    return this.entries.filter((entry) => entry.kind === kind);
  }

  refuseNonsense(check) {
    const nats = (value) => typeof value === "number" && value >= 0;
    const count = (value) => Number.isInteger(value) && value >= 1;
    const object = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
    let good = this.looks.size === this.intents.length && this.of("seal").every((seal) => object(seal.facts.terms));
    for (const { facts } of this.intents) {
      good &&= typeof facts.testset === "string" && Array.isArray(facts.charged ?? []) && object(facts.seen ?? {});
      good &&= [facts.n, facts.look, facts.numbers ?? 1, facts.space ?? 1].every(count) && facts.n <= MOST_ROWS;
      good &&= typeof (facts.member ?? false) === "boolean" && nats(facts.spent) && nats(facts.worst);
      good &&= facts.delta === undefined || (facts.delta > 0 && facts.delta <= 0.5);
    }
    for (const { kind, facts } of this.ends.values()) good &&= kind !== "reveal" || nats(facts.price);
    for (const { facts } of this.commits) good &&= count(facts.look) && nats(facts.spent);
    check(4, good, `${this.looks.size} looks state what looks can state`);
    if (!good) throw new Error("what looks state makes no sense");
  }

  answer(name) {
    const end = this.ends.get(name);
    return end?.kind === "reveal" ? end.facts : null;
  }

  seals(entry, sets) {
    return this.of("seal")
      .filter((seal) => sets.has(seal.facts.testset) && known(entry.place, entry.facts, seal.place))
      .map((seal) => seal.facts);
  }

  // Entries of looks or commitments on record at a place, copies that a merge made apart.
  before(kind, entry, place) {
    const found = (kind === "intent" ? this.intents : this.commits).filter(
      (one) => !(kind === "intent" && isAt(one.place, entry.place)) && paid(entry.facts).has(one.facts.testset) && known(place, entry.facts, one.place),
    );
    const hashes = new Set(found.map((one) => one.hash));
    return found.filter((one) => !hashes.has(one.facts.mirror?.hash));
  }

  apart(entry) {
    return this.intents.filter(
      (one) =>
        !isAt(one.place, entry.place) && paid(entry.facts).has(one.facts.testset) &&
        !known(entry.place, entry.facts, one.place) && !known(one.place, one.facts, entry.place),
    );
  }

  nats(found, look, place) {
    let total = 0;
    for (const { facts } of found) {
      const end = this.ends.get(facts.id);
      if (end?.kind !== "reveal") total += facts.worst;
      else if (place === null || known(place, look, end.place)) total += end.facts.price;
    }
    return total;
  }
}

const paid = (look) => new Set([look.testset, ...(look.charged ?? [])]);
const known = (place, look, there) =>
  place.replica === there.replica ? place.seq > there.seq : (look.seen?.[there.replica] ?? 0) >= there.seq;
const called = (look) => `look ${look.look} at ${String(look.testset).slice(0, 8)}`;

function checkPlace(check, record, entry) {
  const look = entry.facts;
  let place = entry.place;
  if (look.commit) {
    const named = record.commits.filter((one) => one.facts.id === look.commit);
    const [own] = named;
    const good =
      named.length === 1 && own.place.replica === place.replica && own.place.seq < place.seq && own.facts.testset === look.testset &&
      own.facts.look === look.look && own.facts.spent === look.spent && record.intents.filter((one) => one.facts.commit === look.commit).length === 1;
    check(4, good, `${called(look)}: its index is that of its commitment`);
    if (good) place = own.place;
  }
  const before = record.before("intent", entry, place);
  const index = 1 + before.filter((one) => !one.facts.commit).length + record.before("commit", entry, place).length;
  const least = record.nats(before, look, place);
  check(4, look.look >= index, `${called(look)}: its index is not below ${index}`);
  check(4, look.spent >= least - NEAR, `${called(look)}: ${look.spent} nats were spent, not below ${least.toFixed(4)}`);
  const seals = record.seals(entry, new Set([look.testset]));
  const most = (name) => Math.max(...seals.map(name));
  check(4, seals.length > 0 && (look.delta ?? 1) <= most((seal) => seal.terms.delta) + NEAR, `${called(look)}: δ is at most that of the seal`);
  check(4, seals.length > 0 && look.n <= most((seal) => seal.n ?? 0), `${called(look)}: no more rows than were sealed`);
  const declared = seals.length > 0 && seals.every((seal) => (seal.space ?? null) !== null);
  check(4, !declared || (look.space ?? null) !== null, `${called(look)}: it pays for what was declared`);
  const all = seals.length > 0 ? seals : record.seals(entry, paid(look));
  check(4, (look.space ?? null) === null || all.some((seal) => seal.space === look.space), `${called(look)}: its space is that of a seal`);
  if (look.member) check.unknown(`whether the model of ${called(look)} is one of those declared`);
}

// 5. Prices.

function checkPrices(check, record) {
  const work = { left: MOST_COUNTS };
  let recomputed = 0;
  for (const entry of record.intents) {
    const answer = record.answer(entry.facts.id);
    const least = answer && leastPrice(check, record, entry, answer, work);
    if (least === null) continue;
    recomputed++;
    if (!(answer.price >= least - NEAR)) check(5, false, `${called(entry.facts)}: its price is ${answer.price}, its answer costs ${least.toFixed(4)}`);
  }
  check(5, true, `${recomputed} prices were recomputed`);
}

function leastPrice(check, record, entry, answer, work) {
  const look = entry.facts;
  const seals = record.seals(entry, paid(look));
  if (look.metric === "closing") return look.counted ? answer.answers.length * Math.log(look.n + 1) : null;
  if (look.plan && (answer.released?.cell ?? null) !== null) return leastOfPlan(look, answer);
  const counted = COUNTED_SYMBOLS.includes(answer.symbol);
  if (!SHARES.includes(look.metric.split(":")[0]) || seals.length === 0 || (!counted && (answer.errors ?? null) === null)) return null;
  check(5, !counted || ofOneAnswer(look, answer), `${called(look)}: score, count and counts left possible are of one answer`);
  if (answer.symbol === "pass" || answer.symbol === "fail") return Math.LN2 + FAILED;
  const [low, high] = counted ? [answer.released.low, answer.released.high] : [answer.errors, answer.errors];
  let steps = look.n;
  if (answer.symbol === "cell") {
    steps = Math.min(...seals.map((seal) => seal.terms.steps || Infinity));
    const cell = Math.round(answer.score * steps);
    const edge = (side) => Math.ceil((look.n * (2 * cell + side)) / (2 * steps));
    const good = Number.isFinite(steps) && low === Math.max(0, edge(-1)) && high === Math.min(look.n, edge(1) - 1);
    check(5, good, `${called(look)}: it leaves the counts possible that round to its cell`);
    if (!Number.isFinite(steps)) return null;
  }
  if (look.release !== "predicted") return Math.log(steps + 1) + FAILED;
  if (!(low >= 0 && low <= high && high <= look.n)) throw new Error("counts outside of 0 … n");
  if ((work.left -= high - low) < 0) throw new Error("too much to compute");
  const rate = look.cv_error ?? look.cv_mean;
  return ofForecast(low, high, look.n, steps, foretells(rate, look) ? [rate, look.cv_rows] : [0.5, 1]) + FAILED;
}

const foretells = (rate, look) => typeof rate === "number" && rate >= 0 && rate <= 1 && look.cv_rows > 0;

function ofForecast(low, high, n, steps, [v, r]) {
  return -Math.log(0.1 / (steps + 1) + 0.9 * betaBinomial(low, high, n, Math.max(0.5, r * v), Math.max(0.5, r * (1 - v))));
}

// A bounded loss: the symbols of its plan, the count of errors beside it, the rows above a cap by the best forecast of them.
function leastOfPlan(look, answer) {
  const { plan, n } = look;
  const { cell } = answer.released;
  const k = answer.released.k ?? null;
  const [errors, rows] = [answer.errors ?? null, answer.above?.rows ?? null];
  if (![errors, rows].every((count) => count === null || (Number.isInteger(count) && 0 <= count && count <= n))) throw new Error("counts outside of 0 … n");
  const [below, above] = [Math.max(0, (cell - 0.5) / plan.steps), Math.min(1, (cell + 0.5) / plan.steps)];
  let least = (k === null ? 0 : Math.log(4) - Math.abs(k - 1) * Math.log(0.6)) - Math.log((127 / 128) * ofCell(plan, below, above)) + FAILED;
  if (errors !== null) {
    const told = look.release === "predicted" && foretells(look.cv_error, look);
    least += told ? ofForecast(errors, errors, n, n, [look.cv_error, look.cv_rows]) : Math.log(n + 1);
  }
  if (rows !== null) {
    const ofTerm = (count) => (count ? count * Math.log(count / n) : 0);
    least -= Math.log(0.1 / (n + 1) + 0.9 * Math.exp(choose(n, rows) + ofTerm(rows) + ofTerm(n - rows)));
  }
  return least;
}

function ofOneAnswer(look, answer) {
  const { low, high } = answer.released;
  const [score, errors, n] = [answer.score ?? null, answer.errors ?? null, look.n];
  if (!(Number.isInteger(low) && Number.isInteger(high) && 0 <= low && low <= high && high <= n)) return false;
  if (answer.symbol === "pass") return score === null && errors === null && low === 0;
  if (answer.symbol === "fail") return score === null && errors === null && high === n;
  if (answer.symbol === "count") return low === high && low === errors && Math.abs(score - errors / n) < NEAR;
  return typeof score === "number" && errors === null && (low - 1) / n <= score && score <= (high + 1) / n;
}

// ln Γ(x + k) − ln Γ(x): few factors are multiplied, many are had from Stirling's formula beyond 16.
function rise(x, k) {
  let total = 0;
  if (k <= 32) {
    for (let i = 0; i < k; i++) total += Math.log(x + i);
    return total;
  }
  while (x < 16) [total, x, k] = [total + Math.log(x), x + 1, k - 1];
  const rest = (y) => 1 / (12 * y) - 1 / (360 * y ** 3) + 1 / (1260 * y ** 5);
  return total + k * Math.log(x) + (x + k - 0.5) * Math.log1p(k / x) - k + rest(x + k) - rest(x);
}

const choose = (n, k) => (k > n - k ? choose(n, n - k) : rise(n - k + 1, k) - rise(1, k));

function betaBinomial(low, high, n, a, b) {
  let total = 0;
  for (let e = low; e <= high; e++) total += Math.exp(choose(n, e) + rise(a, e) + rise(b, n - e) - rise(a + b, n));
  return total;
}

// 6. Intervals. Tails are added up count by count, outward from the one that was seen.

function logTail(p, k, n) {
  let [term, total] = [1, 1];
  const odds = p / (1 - p);
  for (let j = k; j < n && term > total * 1e-17; j++) total += term *= ((n - j) / (j + 1)) * odds;
  return choose(n, k) + k * Math.log(p) + (n - k) * Math.log1p(-p) + Math.log(total);
}

function bisect(inner, outer, isInside) {
  for (let i = 0; i < 80; i++) {
    const middle = (inner + outer) / 2;
    if (isInside(middle)) inner = middle;
    else outer = middle;
  }
  return (inner + outer) / 2;
}

// Where the divergence KL(rate ‖ p) reaches a bound, from the rate towards an end.
function chernoff(rate, end, bound) {
  const away = (p) => (rate > 0 ? rate * Math.log(rate / p) : 0) + (rate < 1 ? (1 - rate) * (Math.log1p(-rate) - Math.log1p(-p)) : 0);
  return bisect(rate, end, (p) => away(p) < bound);
}

export function lower(k, n, nats) {
  if (k === 0) return 0;
  return nats > 650 ? chernoff(k / n, 0, nats / n) : bisect(k / n, 0, (p) => logTail(p, k, n) > -nats);
}

export const upper = (k, n, nats) => {
  if (k === n) return 1;
  return nats > 650 ? chernoff(k / n, 1, nats / n) : 1 - lower(n - k, n, nats);
};

const indexNats = (look) => -Math.log(look === 1 ? 4 / 5 : 1 / (5 * look * (look - 1)));

function level(look) {
  const tree = indexNats(look.look) + look.spent;
  const base = Math.log((2 * (look.numbers ?? 1)) / look.delta);
  if ((look.space ?? null) === null) return base + tree;
  return base + Math.LN2 + (look.member ? Math.min(tree, Math.log(look.space)) : tree);
}

const close = (one, other, by) => one.length === 2 && other.length === 2 && one.every((limit, i) => Math.abs(limit - other[i]) < by);
const wider = (one, other) => Boolean(other) && one[0] <= other[0] + NEAR && one[1] >= other[1] - NEAR;

function checkInterval(check, record, entry, answer, depth = 0) {
  const look = entry.facts;
  if ((answer.interval ?? null) === null) return;
  if (depth > 3) throw new Error("boards that refer to boards");
  const [released, nats] = [answer.released, level(look)];
  check(6, Math.abs(nats - look.nats) < NEAR, `${called(look)}: the level is e^-${nats.toFixed(4)} a side`);
  const kinds = record.seals(entry, new Set([look.testset])).map((seal) => seal.independent ?? null).filter((kind) => kind !== null);
  if (kinds.length) check(6, kinds.every((kind) => kind === "units") && Boolean(look.units), `${called(look)}: rows in units are not counted as rows`);
  let found;
  if (released.stays) {
    found = released.held;
    const setBy = record.intents.find((one) => {
      const shown = record.answer(one.facts.id);
      return shown && paid(look).has(one.facts.testset) && one.facts.look === released.set_by && !shown.released?.stays &&
        (same(shown.interval, found) || (record.apart(one).length > 0 && wider(found, shown.interval)));
    });
    check(6, Boolean(setBy), `${called(look)}: its board was set in look ${released.set_by}`);
    if (setBy) {
      checkPlace(check, record, setBy);
      checkInterval(check, record, setBy, record.answer(setBy.facts.id), depth + 1);
    }
  } else if (look.plan && (released.cell ?? null) !== null) {
    found = ofPlan(check, look, answer, nats);
  } else if ((released.low ?? null) !== null || look.units) {
    check(6, ofOneAnswer(look, answer), `${called(look)}: the interval is that of the count shown`);
    found = ofCounts(check, look, released.low, released.high, nats);
  } else {
    const [low, high] = released.bounds;
    const enough = released.half >= ((high - low) ** 2 / (2 * look.n)) * (1 - NEAR) && released.rounding >= 0;
    check(6, enough, `${called(look)}: the width is no less than that of a mean of ${look.n} values`);
    const width = Math.sqrt(released.half * nats) + released.rounding;
    found = [Math.max(low, answer.score - width), Math.min(high, answer.score + width)];
  }
  check(6, close(found, answer.interval, WIDE), `${called(look)}: the interval is [${found.map((one) => one.toFixed(6))}]`);
  if (look.quantiles && released.places) checkQuantiles(check, look, answer, nats);
}

function ofCounts(check, look, low, high, nats) {
  const [units, n] = [look.units, look.n];
  if (!(0 <= low && low <= high && high <= n)) throw new Error("counts outside of 0 … n");
  if (!units) return [lower(low, n, nats), upper(high, n, nats)];
  const good = units.largest >= 1 && units.largest <= n && units.effective > 0 && units.effective <= units.count * (1 + NEAR) && units.count <= n;
  check(6, good, `${called(look)}: ${units.count} units, no fewer than the interval counts`);
  check.unknown(`${called(look)}: which rows are a unit`);
  if (units.method === "hoeffding") {
    const half = Math.sqrt(nats / (2 * units.effective));
    return [Math.max(0, low / n - half), Math.min(1, high / n + half)];
  }
  check(6, Math.abs(units.effective - n / units.largest) < NEAR * n, `${called(look)}: its units are counted by the largest`);
  const bound = nats / units.effective;
  return [low > 0 ? chernoff(low / n, 0, bound) : 0, high < n ? chernoff(high / n, 1, bound) : 1];
}

// A bounded loss: the limits of all scores that are rounded to its cell, or as wide as the symbol k says.
function ofPlan(check, look, answer, nats) {
  const { method, steps, units, reach, origin, width } = look.plan;
  const { cell } = answer.released;
  const k = answer.released.k ?? null;
  const wealth = (look.plan.bets ?? null) !== null;
  let whole = [steps, cell].every(Number.isInteger) && 1 <= steps && steps <= MOST_COUNTS && 0 <= cell && cell <= steps;
  whole &&= wealth ? Number.isInteger(k) && k >= -40 : k === null;
  check(5, whole && Math.abs(answer.score - (origin + (width * cell) / steps)) < NEAR, `${called(look)}: its score is a cell of its plan's`);
  const [score, below, above] = [cell / steps, Math.max(0, (cell - 0.5) / steps), Math.min(1, (cell + 0.5) / steps)];
  let ends;
  if (wealth) {
    check(6, Math.abs(look.plan.nats - nats) < NEAR, `${called(look)}: its plan is for this level`);
    check.unknown(`${called(look)}: whether its limits hold the losses of units`);
    ends = [Math.max(0, score - reach[0] * 1.1 ** k), Math.min(1, score + reach[1] * 1.1 ** k)];
  } else {
    check(6, 0 < units && units <= look.n * (1 + NEAR), `${called(look)}: its plan has no more units than rows`);
    if (method === "binomial") {
      const n = Math.floor(units);
      ends = [lower(Math.max(0, Math.ceil(below * n - 1e-9)), n, nats), upper(Math.min(n, Math.floor(above * n + 1e-9)), n, nats)];
    } else if (method === "hoeffding") {
      const half = Math.sqrt(nats / units / 2);
      ends = [Math.max(0, below - half), Math.min(1, above + half)];
    } else ends = [below > 0 ? chernoff(below, 0, nats / units) : 0, above < 1 ? chernoff(above, 1, nats / units) : 1];
  }
  if (answer.above) {
    const { rows, interval } = answer.above;
    const good = Number.isInteger(rows) && close(ofCounts(check, look, rows, rows, nats), interval, WIDE);
    check(6, good, `${called(look)}: the interval of the ${rows} rows above the cap is that of their number`);
  }
  return ends.map((end) => origin + width * end).sort((one, other) => one - other);
}

// The probability of a cell: a tenth spread evenly, the rest by a beta distribution.
function ofCell({ steps, expected, spread }, below, above) {
  const mean = Math.min(Math.max(expected, 1e-6), 1 - 1e-6);
  const strength = Math.max((mean * (1 - mean)) / spread ** 2 - 1, 1);
  if (!Number.isFinite(strength)) throw new Error("a spread of nothing");
  const [a, b] = [strength * mean, strength * (1 - mean)];
  const upTo = (p) => (p <= 0 || p >= 1 ? p : p < mean ? Math.exp(logBeta(p, a, b)) : -Math.expm1(logBeta(1 - p, b, a)));
  return 0.1 / (steps + 1) + 0.9 * Math.max(0, upTo(above) - upTo(below));
}

function logGamma(x) {
  let total = 0;
  for (; x < 16; x++) total -= Math.log(x);
  return total + (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + 1 / (12 * x) - 1 / (360 * x ** 3) + 1 / (1260 * x ** 5);
}

// ln of the incomplete beta function below its mean, by its continued fraction (DLMF 8.17.22, evaluated by Lentz).
function logBeta(p, a, b) {
  const whole = (x) => (Math.abs(x) < 1e-300 ? 1e-300 : x);
  let [value, c, d] = [1, 1, 0];
  for (let m = 0, factor = 2; m < 2e5 && Math.abs(factor - 1) > 1e-15; m++) {
    const half = Math.floor(m / 2);
    const term = m === 0 ? 1
      : m % 2 ? (-(a + half) * (a + b + half) * p) / ((a + 2 * half) * (a + 2 * half + 1))
        : (half * (b - half) * p) / ((a + 2 * half - 1) * (a + 2 * half));
    d = 1 / whole(1 + term * d);
    c = m === 0 ? 1e300 : whole(1 + term / c);
    factor = m === 0 ? 2 : c * d;
    value *= m === 0 ? 1 : factor;
  }
  return a * Math.log(p) + b * Math.log1p(-p) - Math.log(a) + logGamma(a + b) - logGamma(a) - logGamma(b) + Math.log(value);
}

function checkQuantiles(check, look, answer, nats) {
  const [grid, n, places] = [look.quantiles.grid, look.n, answer.released.places];
  const ends = [0, ...grid, null];
  let good = grid.every((edge, i) => i === 0 || grid[i - 1] < edge) && (look.numbers ?? 1) > places.length;
  good &&= look.quantiles.asked.length === places.length && answer.quantiles.length === places.length;
  for (let i = 0; good && i < places.length; i++) {
    const [asked, shown, [low, middle, high]] = [look.quantiles.asked[i], answer.quantiles[i], places[i]];
    const q = asked.q;
    if (!look.units) {
      good &&= upper(asked.low, n, nats) >= q - NEAR && (asked.low === 0 || upper(asked.low - 1, n, nats) <= q + NEAR);
      good &&= asked.high > n || lower(asked.high, n, nats) >= q - NEAR;
    }
    good &&= asked.middle === Math.ceil(q * n - 1e-9) && 0 <= low && low <= middle && middle <= high && high <= grid.length;
    good &&= shown.q === q && shown.value === ends[middle + 1] && same(shown.interval, [ends[low], ends[high + 1]]);
  }
  check(6, good, `${called(look)}: quantiles of errors are those of the places shown`);
}

// 7. Claims, and 9, the close of an exam.

function same(one, other) {
  const [a, b] = [one ?? null, other ?? null];
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return names.every((name) => same(a[name], b[name]));
}

function checkClaims(check, facts, record) {
  check(7, ["run", "exam"].includes(facts.kind), "it is about a run or an exam");
  check(7, facts.claims.length > 0, `${facts.claims.length} claims`);
  check(7, new Set(facts.claims.map((claim) => claim.intent)).size === facts.claims.length, "no look is claimed twice");
  for (const claim of facts.claims) {
    const entry = record.looks.get(claim.intent);
    const answer = record.ends.get(claim.intent)?.facts;
    if (!check(7, Boolean(entry && answer), `the look ${String(claim.intent).slice(0, 8)} is on record, with its answer`)) continue;
    const look = entry.facts;
    checkPlace(check, record, entry);
    check(7, look.testset === facts.testset, `${called(look)}: it is at the rows that the certificate is about`);
    if ("asker" in claim || "predictions_sha256" in claim) {
      const good = same(claim.asker, look.config?.asker) && same(claim.predictions_sha256, look.config?.handed);
      check(7, good, `${called(look)}: asker and predictions are those on record`);
    }
    const from = (stated, names) => names.every((name) => same(claim[name], stated[name]));
    const allowed = [...CLAIMED_OF_LOOK, ...CLAIMED_OF_ANSWER, ...CLAIMED_APART, ...CLAIMED_BESIDE];
    const good =
      from(look, [...CLAIMED_OF_LOOK, ...CLAIMED_APART]) && from(answer, [...CLAIMED_OF_ANSWER, "answers", "verdicts"]) &&
      Object.keys(claim).every((name) => allowed.includes(name));
    check(7, good, `${called(look)}: the claim is the answer on record, and nothing else`);
    checkSuperseded(check, record, entry, claim);
    if (look.metric === "closing") checkClose(check, record, look, answer);
    else checkInterval(check, record, entry, answer);
  }
}

function checkSuperseded(check, record, entry, claim) {
  const [look, said] = [entry.facts, claim.superseded ?? null];
  const apart = record.apart(entry);
  if (apart.length) check(7, said !== null, `${called(look)}: ${apart.length} looks that did not know of it supersede its interval`);
  if (said === null) return;
  const spent = look.spent + record.nats(apart, look, null);
  const good = said.look >= look.look + apart.length && said.spent >= spent - NEAR;
  check(7, good, `${called(look)}: beside them it counts as look ${said.look} with ${said.spent} nats`);
  check(7, !said.interval || wider(said.interval, claim.interval), `${called(look)}: beside them its interval is no narrower`);
  check.unknown(`${called(look)}: whether the interval beside looks of another machine is as stated`);
}

function checkClose(check, record, look, answer) {
  const handed = new Map(record.intents.map((entry) => [entry.facts.config?.handed, entry.facts]));
  const alone = indexNats(look.look) + look.spent + Math.log(Math.max(1, answer.answers.length));
  check(9, look.answers.length === answer.answers.length, "the close shows as many answers as it states");
  answer.answers.forEach((shown, number) => {
    const stated = look.answers[number];
    const first = handed.get(stated.name);
    const base = first ? indexNats(first.look) + first.spent : alone;
    let good = stated.name === shown.name && stated.base >= base - NEAR;
    if ((shown.interval ?? null) !== null && look.counted) {
      const nats = Math.log(2 / look.delta) + ((look.space ?? null) === null ? 0 : Math.LN2) + base;
      const [low, high] = ofCounts(check, look, shown.errors, shown.errors, nats);
      good &&= shown.interval[0] <= low + WIDE && shown.interval[1] >= high - WIDE && Math.abs(shown.score - shown.errors / look.n) < NEAR;
    }
    check(9, good, `answer ${stated.name.slice(0, 12)}: its interval is that of its own index`);
  });
  if (!look.counted) check.unknown("whether intervals of measures other than counts follow at the close");
}

function checkAbout(check, facts, record) {
  if (facts.kind !== "exam") return check.unknown("whether what the study says it declared is what it declared");
  const { terms, terms_sha256: stated } = facts.about;
  const digest = sha256(SPANS.get(terms));
  const noted = record.entries.some(
    ({ facts: one }) => one.what === "created" && one.exam === terms.id && one.terms === digest && one.testset === facts.testset,
  );
  check(7, noted && stated === digest, "the terms are those that the chain has for these rows");
  if (terms.task !== "regression") return;
  const measure = `${terms.measure.kind}:${sha256(SPANS.get(terms.measure)).slice(0, 16)}`;
  check(7, facts.claims.every((claim) => ["closing", measure].includes(claim.metric)), "each answer is by the measure of the terms");
}

// 8. Cards.

function checkCards(check, members, facts) {
  const lines = facts.claims
    .flatMap((claim) => (claim.answers ? claim.answers.map((one) => ["score at the close", one.score, one.interval]) : [[claim.metric, claim.score, claim.interval]]))
    .map(([kind, score, interval]) => ({ kind, score: score ?? null, interval: interval ?? null }))
    .filter((line) => line.score !== null);
  const digits = (text, score) => Math.abs(Number(text) - score) <= 0.5000001 * 10 ** (Math.floor(Math.log10(Math.abs(score) || 1)) - 5);
  const places = (text, limit, digits) => Math.abs(Number(text) - limit) <= 0.5000001 * 10 ** -digits;
  if (members.has("card.cdx.json")) {
    const [component] = parse(members.get("card.cdx.json")).components;
    const metrics = component.modelCard.quantitativeAnalysis.performanceMetrics;
    const good = metrics.length === lines.length && metrics.every((one, number) => {
      const { kind, score, interval } = lines[number];
      const shown = one.confidenceInterval ?? null;
      const limits = interval === null || shown === null
        ? interval === shown
        : places(shown.lowerBound, interval[0], 6) && places(shown.upperBound, interval[1], 6);
      return one.type === kind && digits(one.value, score) && limits;
    });
    check(8, good, "the CycloneDX card has the numbers of the claims");
  }
  if (members.has("README.md")) {
    const [, head, ...text] = members.get("README.md").toString("utf8").split("---\n");
    const [{ results: [{ metrics }] }] = parse(head)["model-index"];
    const stated = metrics.map((one) => ({ kind: one.type, score: one.value, interval: one.args?.interval ?? null }));
    const rows = text.join("---\n").split("\n").filter((line) => line.startsWith("| ")).slice(1).map((line) => line.split(" | "));
    const good = same(stated, lines) && rows.length === lines.length && rows.every((row, number) => {
      const { score, interval } = lines[number];
      const shown = /^\[(-?[\d.]+), (-?[\d.]+)\] /.exec(row[3]);
      return digits(row[2], score) && (interval === null ? /^none( |$)/.test(row[3]) : Boolean(shown) && [1, 2].every((i) => places(shown[i], interval[i - 1], 4)));
    });
    check(8, good, "the Hugging Face card has the numbers of the claims");
  }
  check.unknown(members.has("stamp.tsr") ? "whether the time stamp is good: ask openssl" : "when: there is no time stamp");
}

// The command line.

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const words = process.argv.slice(2);
  const at = words.indexOf("--key");
  const key = at >= 0 ? words.splice(at, 2)[1] ?? null : null;
  if (words.length !== 1 || (at >= 0 && key === null)) {
    console.log("usage: node verify_certificate.mjs certificate.zip [--key PUBLIC]");
    process.exit(2);
  }
  const { held, faults, unknown } = verify(words[0], key);
  for (const { statement, what } of held) console.log(`holds    ${statement}  ${what}`);
  for (const { statement, what } of faults) console.log(`FAULT    ${statement}  ${what}`);
  for (const what of unknown) console.log(`unknown     ${what}`);
  console.log(`verdict  ${faults.length ? `FAULT: ${faults.length} statements do not hold` : `all ${held.length} statements hold`}`);
  process.exit(faults.length ? 5 : 0);
}
