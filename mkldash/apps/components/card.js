export function render({model, el}) {
  const head = document.createElement("header")
  head.innerHTML = `<h2></h2><button type="button" aria-expanded="false" class="info">
    <svg viewBox="0 0 24 24" width="18" height="18" fill="currentColor" aria-hidden="true"><path d="M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm1 15h-2v-6h2zm0-8h-2V7h2z"/></svg>
    <span>What am I looking at?</span></button><span class="saving"><button type="button" class="info save" aria-haspopup="true"><svg viewBox="0 0 24 24" width="18" height="18" fill="currentColor" aria-hidden="true"><path d="M5 20h14v-2H5v2zM19 9h-4V3H9v6H5l7 7 7-7z"/></svg></button><span class="menu" hidden><button type="button" data-format="png">PNG</button><button type="button" data-format="svg">SVG</button></span></span><div class="keys"></div><div class="marks" hidden></div><p class="caption"></p><p class="words"></p>`
  el.append(head)
  const [title, info, keys, caption, words] = ["h2", ".info", ".keys", ".caption", ".words"].map((s) => head.querySelector(s))
  const show = () => {
    title.textContent = model.title
    caption.textContent = model.caption
    info.setAttribute("aria-expanded", String(model.open))
    info.title = "What am I looking at?"
    info.setAttribute("aria-label", `What am I looking at? ${model.title}`)
    caption.hidden = !model.open
    words.className = model.open ? "words" : "words quiet"
  }
  const mark = () => {
    const marks = head.querySelector(".marks")
    marks.hidden = model.marks.length === 0
    keys.hidden = !marks.hidden
    marks.replaceChildren(...model.marks.map(([sign, colour, meaning]) => {
      const item = document.createElement("span")
      const shape = document.createElement("i")
      shape.textContent = sign
      shape.style.color = colour
      shape.setAttribute("aria-hidden", "true")
      item.append(shape, meaning)
      return item
    }))
  }
  const tell = () => { words.textContent = model.words }
  const make = (label) => {
    const key = document.createElement("button")
    key.type = "button"
    key.innerHTML = `<svg viewBox="0 0 26 8" width="26" height="8" aria-hidden="true"><line x1="1" x2="25" y1="4" y2="4" stroke-width="2.5"/></svg><span></span>`
    key.querySelector("span").textContent = label
    key.onclick = () => model.send_msg({key: label})
    return key
  }
  let labels = []
  const name = () => {
    // The same curves keep their buttons, and with them the focus.
    const now = model.keys.map(([label]) => label)
    if (now.length !== labels.length || now.some((label, i) => label !== labels[i])) {
      labels = now
      keys.replaceChildren(...labels.map(make))
    }
    model.keys.forEach(([label, colour, dashes, drawn, lane], i) => {
      const key = keys.children[i]
      // A lane of a race comes out in every picture while its name is pointed at.
      key.onpointerenter = lane ? () => window.mkldashHighlight?.(lane) : null
      key.onpointerleave = lane ? () => window.mkldashHighlight?.(null) : null
      key.title = drawn ? `Hide ${label}` : `Show ${label}`
      key.setAttribute("aria-pressed", String(drawn))
      const line = key.querySelector("line")
      line.setAttribute("stroke", colour)
      line.setAttribute("stroke-dasharray", dashes.join(" "))
    })
  }
  info.onclick = () => { model.open = !model.open }
  const save = head.querySelector(".save")
  const menu = head.querySelector(".menu")
  save.title = "Save the picture (PNG or SVG)"
  save.setAttribute("aria-label", `Save the picture: ${model.title}`)
  save.hidden = !model.figure
  const fold = (open) => {
    menu.hidden = !open
    save.setAttribute("aria-expanded", String(open))
  }
  fold(false)
  save.onclick = () => { fold(menu.hidden) }
  for (const item of menu.children) {
    item.onclick = () => {
      model.send_msg({save: item.dataset.format})
      fold(false)
      save.focus()
    }
  }
  head.querySelector(".saving").addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !menu.hidden) {
      event.stopPropagation()
      fold(false)
      save.focus()
    }
  })
  head.querySelector(".saving").addEventListener("focusout", (event) => {
    if (!event.currentTarget.contains(event.relatedTarget)) { fold(false) }
  })
  model.on("msg:custom", (event) => save_order(event.data ?? event, head))
  for (const name of ["title", "caption", "open"]) { model.on(name, show) }
  model.on("words", tell)
  model.on("keys", name)
  model.on("marks", mark)
  show()
  tell()
  name()
  mark()
}
