const ICON = {
  play: "M8 5v14l11-7z",
  pause: "M6 5h4v14H6zm8 0h4v14h-4z",
  forward: "M6 5v14l9-7zm10 0h3v14h-3z",
  back: "M18 5v14l-9-7zM5 5h3v14H5z",
  stop: "M6 6h12v12H6z",
  branch: "M6 2a3 3 0 0 0-1 5.8v8.4a3 3 0 1 0 2 0v-2.6c1-.9 2.6-1.1 4.4-1.1 3.4 0 6.3-.9 6.6-4.7A3 3 0 1 0 16 7.8c-.3 2.3-1.9 2.7-4.6 2.7-1.5 0-3.1.1-4.4.8V7.8A3 3 0 0 0 6 2z",
  reset: "M12 5V1L7 6l5 5V7a5 5 0 1 1-5 5H5a7 7 0 1 0 7-7z",
  seed: "M5 3h14a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2zm3 3.5A1.5 1.5 0 1 0 8 9.5 1.5 1.5 0 0 0 8 6.5zm4 4a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3zm4 4a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3z",
}
const SPEEDS = [0.5, 1, 2, 5, 12, 25, 50, 100, 1000]

function icon(name) {
  return `<svg viewBox="0 0 24 24" width="22" height="22" fill="currentColor" aria-hidden="true"><path d="${ICON[name]}"/></svg>`
}

function button(name, label, keys, text = "") {
  const b = document.createElement("button")
  b.type = "button"
  b.className = `b ${name}`
  b.innerHTML = icon(name) + (text ? `<span>${text}</span>` : "")
  b.setAttribute("aria-label", label)
  b.title = keys ? `${label} (key: ${keys})` : label
  return b
}

function speed_text(v, unit) {
  return v >= 1000 ? "no limit" : `${v} ${unit}`
}

// Keys belong to the page unless somebody types or moves another control; of a slider
// only the arrows do, as it keeps the focus after a drag with the mouse.
function is_free(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) { return false }
  const target = event.composedPath()[0]
  if (!(target instanceof Element)) { return true }
  if (target.closest("[role=dialog],[role=listbox],[role=combobox]")) { return false }
  if (target.matches("[data-player]")) { return true }
  if (target.matches("input[type=range]") || target.closest("[role=slider]")) { return !event.key.startsWith("Arrow") }
  if (target.matches("input,textarea,select,[contenteditable=true]")) { return false }
  return !(event.key === " " && target.matches("button,a,summary,[role=button]"))
}

export function render({model, el}) {
  const play = button("play", "Play", "space", "Play")
  const back = button("back", "Step back", "left arrow")
  const step = button("forward", "Step", "right arrow")
  const stop = button("stop", "Stop", "", "Stop")
  const reset = button("reset", "Reset, same seed", "R")
  const seed = button("seed", "New seed")
  const branch = button("branch", "Branch: a new run from this iteration, beside this one", "B", "Branch")
  branch.setAttribute("aria-label", "Branch")
  const scrub = document.createElement("input")
  Object.assign(scrub, {type: "range", min: 0, max: 1, step: 1, value: 0, className: "scrub"})
  scrub.setAttribute("aria-label", "iteration")
  scrub.dataset.player = "1"
  const place = document.createElement("output")
  place.className = "place"
  const speed = document.createElement("input")
  Object.assign(speed, {type: "range", min: 0, max: SPEEDS.length - 1, step: 1, className: "speed"})
  speed.setAttribute("aria-label", "speed")
  const pace = document.createElement("output")
  pace.className = "pace"

  const keys = document.createElement("div")
  keys.className = "keys"
  keys.append(play, back, step, stop, branch, reset, seed)
  const line = document.createElement("div")
  line.className = "line"
  line.append(scrub, place)
  const tempo = document.createElement("label")
  tempo.className = "tempo"
  tempo.append(Object.assign(document.createElement("span"), {textContent: "Speed"}), speed, pace)
  const bar = document.createElement("div")
  bar.className = "bar"
  bar.setAttribute("role", "group")
  bar.setAttribute("aria-label", "Player")
  bar.append(keys, line, tempo)
  el.append(bar)

  const send = (kind, value = null) => model.send_msg({kind, value})
  let held_until = 0
  let queued = null
  let timer = null

  // A place is a number, or where there are decades a time.
  function said(k) {
    if (!model.decade) { return String(model.first + k) }
    const seconds = model.origin * 10 ** (k / model.decade)
    return seconds < 0.01 ? `${(1000 * seconds).toPrecision(2)} ms` : `${seconds.toPrecision(2)} s`
  }
  function show_place() {
    const last = Math.max(0, model.length - 1)
    place.textContent = `${said(+scrub.value)} of ${said(last)}`
    scrub.setAttribute("aria-label", model.unit)
    scrub.setAttribute("aria-valuetext", `${model.unit} ${said(+scrub.value)} of ${said(last)}`)
    scrub.style.setProperty("--done", `${last ? 100 * scrub.value / last : 0}%`)
  }
  function show() {
    const last = Math.max(0, model.length - 1)
    if (+scrub.max !== last) { scrub.max = last }
    if (performance.now() > held_until) { scrub.value = model.position }
    scrub.disabled = model.length < 2
    show_place()
    const text = model.playing ? "Pause" : model.ended && model.length ? "Replay" : "Play"
    if (play.dataset.text !== text) {
      play.dataset.text = text
      play.innerHTML = icon(model.playing ? "pause" : "play") + `<span>${text}</span>`
      play.setAttribute("aria-label", text)
      play.title = `${text} (key: space)`
    }
    stop.disabled = !model.can_stop
    branch.hidden = !model.branches
    branch.disabled = !model.can_branch
    play.disabled = !model.can_play
    step.disabled = !model.can_step
    back.disabled = model.length < 2 || +scrub.value === 0
    const i = SPEEDS.reduce((best, v, j) => Math.abs(Math.log(v / model.speed)) < Math.abs(Math.log(SPEEDS[best] / model.speed)) ? j : best, 0)
    if (document.activeElement !== speed && performance.now() > held_until) { speed.value = i }
    if (pace.textContent !== speed_text(model.speed, model.pace)) {
      pace.textContent = speed_text(model.speed, model.pace)
      speed.setAttribute("aria-valuetext", speed_text(model.speed, model.pace))
    }
  }
  // Latest wins here too: at most one message in 40 ms while dragging.
  function later(k) {
    queued = k
    if (timer !== null) { return }
    timer = setTimeout(() => {
      timer = null
      if (queued !== null) { send("scrub", queued); queued = null }
    }, 40)
  }
  scrub.addEventListener("input", () => {
    held_until = performance.now() + 400
    show_place()
    later(+scrub.value)
  })
  speed.addEventListener("input", () => {
    held_until = performance.now() + 400
    pace.textContent = speed_text(SPEEDS[speed.value], model.pace)
    send("speed", SPEEDS[speed.value])
  })
  play.onclick = () => send("play")
  step.onclick = () => send("step")
  back.onclick = () => send("back")
  stop.onclick = () => send("stop")
  branch.onclick = () => send("branch")
  reset.onclick = () => send("reset")
  seed.onclick = () => send("seed")
  // After a click of the mouse the space bar plays; after one of the keyboard it presses again.
  keys.addEventListener("click", (event) => {
    if (event.detail > 0) { event.target.closest("button")?.blur() }
  })

  // So do the keys after a click on one of several buttons of which one is chosen.
  function on_click(event) {
    const pressed = event.detail > 0 && event.composedPath().find((node) => node instanceof Element && node.matches("button.MuiToggleButton-root"))
    if (pressed) { pressed.blur() }
  }
  document.addEventListener("click", on_click)
  model.on("remove", () => document.removeEventListener("click", on_click))

  function on_key(event) {
    if (!is_free(event)) { return }
    const kind = {" ": "play", ArrowRight: "step", ArrowLeft: "back", r: "reset", R: "reset", b: "branch", B: "branch"}[event.key]
    if (kind === undefined || (kind === "branch" && !(model.branches && model.can_branch))) { return }
    event.preventDefault()
    send(kind)
  }
  document.addEventListener("keydown", on_key)
  model.on("remove", () => document.removeEventListener("keydown", on_key))
  // Below this width the controls leave the page too little; no server can know it
  // beforehand.  Said when the server has moved something first: before, its answer
  // can come before this page listens, and is lost.
  let told = window.innerWidth >= 700
  function changed() {
    if (!told) {
      told = true
      send("narrow")
    }
    show()
  }
  for (const name of ["length", "position", "playing", "ended", "speed", "first", "can_play", "can_step", "can_stop", "unit", "decade", "pace", "branches", "can_branch"]) { model.on(name, changed) }
  show()
}
