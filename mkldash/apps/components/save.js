export function render({model, el}) {
  const group = document.createElement("div")
  group.className = "group"
  group.setAttribute("role", "group")
  group.setAttribute("aria-label", "Save")
  group.innerHTML = `<b><svg viewBox="0 0 24 24" width="18" height="18" fill="currentColor" aria-hidden="true"><path d="M5 20h14v-2H5v2zM19 9h-4V3H9v6H5l7 7 7-7z"/></svg>Save</b><span class="offers"></span><span class="said" role="status"></span>`
  el.append(group)
  const [offers, said] = [".offers", ".said"].map((s) => group.querySelector(s))
  const show = () => {
    offers.replaceChildren(...model.offers.map(([kind, words, hint]) => {
      const button = document.createElement("button")
      button.type = "button"
      button.textContent = words
      button.title = hint
      button.setAttribute("aria-label", `Save: ${words}`)
      button.onclick = (event) => {
        said.textContent = ""
        model.send_msg({kind})
        if (event.detail > 0) { button.blur() }
      }
      return button
    }))
    allow()
  }
  const allow = () => { for (const button of offers.children) { button.disabled = !model.ready } }
  model.on("offers", show)
  model.on("ready", allow)
  model.on("msg:custom", async (event) => { said.textContent = await save_order(event.data ?? event, group) })
  show()
}
