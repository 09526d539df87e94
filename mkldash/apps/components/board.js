const ICON = {
  running: "<circle cx='12' cy='12' r='6' class='pulse'/>",
  paused: "<path d='M7 5h4v14H7zm6 0h4v14h-4z'/>",
  certified: "<path d='M9 16.2 4.8 12l-1.4 1.4L9 19 21 7l-1.4-1.4z'/>",
  ended: "<path d='M6 6h12v12H6z'/>",
  failed: "<path d='M12 2 1 21h22L12 2zm1 16h-2v-2h2zm0-4h-2v-4h2z'/>",
  preparing: "<circle cx='12' cy='12' r='6' class='pulse'/>",
}

// A lost connection: say so, ask until the server answers again, and load the page anew;
// the address holds every choice, so the run comes back.  (Bokeh's own reconnection builds
// a page without a run after a restart of the server, and asks other hosts for its styles.)
function watch_connection(say) {
  window.Bokeh?.documents?.[0]?.on_event?.("connection_lost", () => {
    say("Connection to the server lost; trying again …")
    const script = document.querySelector("script[src*='bokeh']")?.src
    const ask = async () => {
      try {
        if ((await fetch(script, {method: "HEAD", cache: "no-store"})).ok) {
          window.location.reload()
          return
        }
      } catch { /* not yet */ }
      setTimeout(ask, 1000)
    }
    setTimeout(ask, 500)
  })
}

export function render({model, el}) {
  const board = document.createElement("section")
  board.className = "board"
  board.setAttribute("aria-label", "Status of the run")
  board.innerHTML = `
    <div class="head"><span class="dot" aria-hidden="true"></span>
      <p class="sentence" role="status" aria-live="polite" aria-atomic="true"></p></div>
    <div class="track" role="presentation"><div class="fill"></div></div>
    <div class="note" role="note" hidden><p></p><button type="button" aria-label="Dismiss this note">×</button></div>
    <p class="more"></p><p class="alert" role="alert"></p><dl class="tiles"></dl>`
  el.append(board)
  const find = (name) => board.querySelector(name)
  const [dot, sentence, fill, track, more, alert, tiles] = [".dot", ".sentence", ".fill", ".track", ".more", ".alert", ".tiles"].map(find)
  const note = find(".note")
  const show_note = () => {
    note.querySelector("p").textContent = model.note
    note.hidden = !model.note
  }
  note.querySelector("button").onclick = () => { note.hidden = true }
  model.on("note", show_note)
  show_note()
  const cells = []
  let lost = ""
  watch_connection((words) => {
    lost = words
    show_text()
  })

  function show_text() {
    if (board.dataset.tone !== model.tone) {
      board.dataset.tone = model.tone
      dot.innerHTML = `<svg viewBox="0 0 24 24" width="24" height="24" fill="currentColor">${ICON[model.tone] ?? ""}</svg>`
    }
    if (sentence.textContent !== model.sentence) { sentence.textContent = model.sentence }
    for (const [key, value] of Object.entries(model.facts)) { sentence.dataset[key] = value }
    more.textContent = model.more
    more.hidden = !model.more
    const wrong = lost || model.alert
    if (alert.textContent !== wrong) { alert.textContent = wrong }
    alert.hidden = !wrong
    tiles.style.opacity = model.stale ? 0.4 : 1
    fill.style.width = `${100 * model.progress}%`
    track.title = model.progress_title
  }
  // The address follows without adding to the history: Back leaves the page as ever.
  function show_address() {
    if (!model.query) { return }
    const theme = new URLSearchParams(window.location.search).get("theme")
    const query = model.query + (theme ? `&theme=${theme}` : "")
    if (query !== window.location.search) { window.history.replaceState(null, "", query) }
  }
  function show_tiles() {
    model.tiles.forEach(([label, value, hint], i) => {
      if (cells[i] === undefined) {
        const box = document.createElement("div")
        const dt = document.createElement("dt")
        const dd = document.createElement("dd")
        box.append(dt, dd)
        tiles.append(box)
        cells[i] = {box, dt, dd}
      }
      const {box, dt, dd} = cells[i]
      if (dt.textContent !== label) { dt.textContent = label }
      if (dd.textContent !== value) { dd.textContent = value }
      if (box.title !== hint) { box.title = hint }
    })
    while (cells.length > model.tiles.length) { cells.pop().box.remove() }
  }
  for (const name of ["sentence", "tone", "more", "alert", "progress", "facts", "stale"]) { model.on(name, show_text) }
  model.on("tiles", show_tiles)
  model.on("query", show_address)
  show_text()
  show_tiles()
}
