export function render({model, el}) {
  const head = document.createElement("header")
  head.innerHTML = `<h2></h2><button type="button" aria-expanded="false" class="info">
    <svg viewBox="0 0 24 24" width="18" height="18" fill="currentColor" aria-hidden="true"><path d="M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm1 15h-2v-6h2zm0-8h-2V7h2z"/></svg>
    <span>What am I looking at?</span></button><p class="caption"></p><p class="words"></p>`
  el.append(head)
  const [title, info, caption, words] = ["h2", "button", ".caption", ".words"].map((s) => head.querySelector(s))
  const show = () => {
    title.textContent = model.title
    caption.textContent = model.caption
    info.setAttribute("aria-expanded", String(model.open))
    info.setAttribute("aria-label", `What am I looking at? ${model.title}`)
    caption.hidden = !model.open
    words.className = model.open ? "words" : "words quiet"
    words.textContent = model.words
  }
  info.onclick = () => { model.open = !model.open }
  for (const name of ["title", "caption", "open", "words"]) { model.on(name, show) }
  show()
}
