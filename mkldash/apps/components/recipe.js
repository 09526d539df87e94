export function render({model, el}) {
  const box = document.createElement("details")
  box.innerHTML = `<summary>Reproduce this run</summary>
    <div class="one"><p>On the command line</p><button type="button">Copy</button><pre tabindex="0" aria-label="Command"></pre></div>
    <div class="one"><p>In Python</p><button type="button">Copy</button><pre tabindex="0" aria-label="Python"></pre></div>
    <p class="note" role="status"></p>`
  el.append(box)
  const texts = [...box.querySelectorAll("pre")]
  const note = box.querySelector(".note")
  const show = () => {
    texts[0].textContent = model.command
    texts[1].textContent = model.python
    note.textContent = model.note
  }
  box.querySelectorAll("button").forEach((button, i) => {
    button.setAttribute("aria-label", i ? "Copy the Python" : "Copy the command")
    button.onclick = async () => {
      const range = document.createRange()
      range.selectNodeContents(texts[i])
      const chosen = window.getSelection()
      chosen.removeAllRanges()
      chosen.addRange(range)
      try {
        await navigator.clipboard.writeText(texts[i].textContent)
        button.textContent = "Copied"
      } catch {
        button.textContent = "Selected: copy it"
      }
      setTimeout(() => { button.textContent = "Copy" }, 2000)
    }
  })
  for (const name of ["command", "python", "note"]) { model.on(name, show) }
  show()
}
