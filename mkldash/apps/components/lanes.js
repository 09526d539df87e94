const BRANCH = "M6 3a3 3 0 0 0-1 5.8v6.4a3 3 0 1 0 2 0V13h6a4 4 0 0 0 4-4v-.2a3 3 0 1 0-2 0V9a2 2 0 0 1-2 2H7V8.800A3 3 0 0 0 6 3z"
const REMOVE = "M18.300 7.100 13.400 12l4.900 4.900-1.400 1.400L12 13.400l-4.900 4.900-1.400-1.400L10.600 12 5.700 7.100l1.400-1.400L12 10.600l4.900-4.900z"

function icon(path) {
  return `<svg viewBox="0 0 24 24" width="19" height="19" fill="currentColor" aria-hidden="true"><path d="${path}"/></svg>`
}

export function render({model, el}) {
  const root = document.createElement("section")
  root.className = "lanes"
  root.setAttribute("aria-label", "Lanes of the race")
  // Said explicitly: on a phone rows are laid out as blocks, which takes their meaning away.
  root.innerHTML = "<table role='table'><caption></caption><thead role='rowgroup'><tr role='row'></tr></thead><tbody role='rowgroup'></tbody></table><p class='foot'></p>"
  el.append(root)
  const [caption, head, body, foot] = ["caption", "thead tr", "tbody", ".foot"].map((s) => root.querySelector(s))
  const send = (kind, letter) => model.send_msg({kind, letter})
  const rows = new Map()

  function cell(row, name) {
    const found = document.createElement("td")
    found.className = name
    found.setAttribute("role", "cell")
    row.append(found)
    return found
  }
  function put(node, text) {
    if (node.textContent !== text) { node.textContent = text }
  }
  function make(lane) {
    const tr = document.createElement("tr")
    tr.dataset.lane = lane.letter
    tr.setAttribute("role", "row")
    const who = cell(tr, "who")
    who.innerHTML = `<button type="button" class="pick"><span class="letter" aria-hidden="true"></span>
      <svg viewBox="0 0 30 8" width="30" height="8" aria-hidden="true"><line x1="1" x2="29" y1="4" y2="4" stroke-width="3"/></svg>
      <span><span class="name"></span><span class="note"></span></span></button>`
    const run = cell(tr, "run")
    run.innerHTML = `<span class="state"><span class="word"></span><span class="badge" hidden></span></span>
      <div class="track" role="presentation"><div class="fill"></div></div><span class="why" hidden></span>`
    const cells = model.columns.map((label) => {
      const td = cell(tr, "number")
      td.dataset.label = label
      return td
    })
    const acts = cell(tr, "acts")
    if (model.editable) {
      acts.innerHTML = `<button type="button" class="act branch">${icon(BRANCH)}</button><button type="button" class="act remove">${icon(REMOVE)}</button>`
      acts.querySelector(".branch").onclick = () => send("branch", lane.letter)
      acts.querySelector(".remove").onclick = () => send("remove", lane.letter)
    }
    who.querySelector(".pick").onclick = () => send("hide", lane.letter)
    const light = (on) => () => window.mkldashHighlight?.(on ? lane.letter : null)
    tr.addEventListener("pointerenter", light(true))
    tr.addEventListener("pointerleave", light(false))
    tr.addEventListener("focusin", light(true))
    tr.addEventListener("focusout", light(false))
    const find = (s) => tr.querySelector(s)
    const parts = {tr, cells, pick: find(".pick"), letter: find(".letter"), line: find("line"), name: find(".name"), note: find(".note"),
      word: find(".word"), badge: find(".badge"), track: find(".track"), fill: find(".fill"), why: find(".why"), branch: find(".branch"), remove: find(".remove")}
    parts.letter.style.background = lane.colour
    put(parts.letter, lane.letter.toUpperCase())
    parts.line.setAttribute("stroke", lane.colour)
    parts.line.setAttribute("stroke-dasharray", lane.dashes)
    parts.fill.style.background = lane.colour
    return parts
  }
  function show() {
    const now = model.rows.map((lane) => lane.letter)
    for (const [letter, parts] of rows) {
      if (!now.includes(letter)) { parts.tr.remove(); rows.delete(letter) }
    }
    model.rows.forEach((lane, i) => {
      if (!rows.has(lane.letter)) { rows.set(lane.letter, make(lane)) }
      const parts = rows.get(lane.letter)
      if (body.children[i] !== parts.tr) { body.insertBefore(parts.tr, body.children[i] ?? null) }
      const title = `${lane.letter.toUpperCase()}, ${lane.name}`
      parts.tr.dataset.tone = lane.tone
      parts.tr.dataset.status = lane.status
      parts.tr.classList.toggle("off", lane.hidden)
      parts.pick.setAttribute("aria-pressed", String(!lane.hidden))
      parts.pick.setAttribute("aria-label", `${lane.hidden ? "Show" : "Hide"} lane ${title}`)
      parts.pick.title = lane.hidden ? "Show its curves" : "Click hides its curves; hovering brings them out"
      put(parts.name, lane.name)
      put(parts.note, lane.note)
      put(parts.word, lane.status)
      put(parts.badge, lane.badge)
      parts.badge.hidden = !lane.badge
      parts.badge.className = `badge ${lane.badge}`
      parts.badge.title = lane.badge === "first" ? "Every lane it is measured against is certified, and none was sooner" : "At this place; nobody has won yet"
      parts.fill.style.width = `${100 * lane.progress}%`
      parts.track.hidden = lane.tone === "failed"
      parts.why.hidden = !lane.why
      put(parts.why, lane.why)
      parts.cells.forEach((td, j) => put(td, lane.cells[j] ?? ""))
      if (parts.branch) {
        parts.branch.disabled = !lane.branch
        parts.branch.title = "Branch: a new lane from this iteration, with other parameters"
        parts.branch.setAttribute("aria-label", `Branch lane ${title}`)
        parts.remove.disabled = !lane.remove
        parts.remove.title = lane.with_it ? `Remove this lane and what branched off it: ${lane.with_it}` : "Remove this lane"
        parts.remove.setAttribute("aria-label", `Remove lane ${title}`)
      }
    })
    root.style.opacity = model.stale ? 0.4 : 1
  }
  function frame() {
    put(caption, model.caption)
    head.replaceChildren(...[model.first, model.second, ...model.columns, ""].map((label, i) => {
      const th = document.createElement("th")
      th.scope = "col"
      th.setAttribute("role", "columnheader")
      th.textContent = label
      th.title = model.hints[i - 2] ?? ""
      if (!label) { th.innerHTML = "<span class='quiet'>Actions</span>" }
      return th
    }))
    put(foot, model.foot)
    foot.hidden = !model.foot
  }
  // Without a player nobody else says that the controls cover a narrow page; once the
  // server has moved something, see player.js.
  let told = model.editable || window.innerWidth >= 700
  function narrow() {
    if (!told) {
      told = true
      send("narrow", "")
    }
  }
  for (const name of ["rows", "stale"]) { model.on(name, show) }
  model.on("rows", narrow)
  for (const name of ["caption", "foot", "columns"]) { model.on(name, frame) }
  frame()
  show()
}
