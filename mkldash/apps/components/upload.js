// A table of one's own, sent in pieces: one large message would close the socket.
const PIECE = 512 * 1024

function in_words(bytes) {
  return bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}

function to_base64(bytes) {
  let text = ""
  for (let i = 0; i < bytes.length; i += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(i, i + 0x8000))
  }
  return btoa(text)
}

export function render({model, el}) {
  const box = document.createElement("div")
  box.className = "upload"
  box.innerHTML = `<label class="pick"><svg viewBox="0 0 24 24" width="20" height="20" fill="currentColor" aria-hidden="true"><path d="M5 20h14v-2H5zM19 12h-4v5H9v-5H5l7-8z"/></svg>
    <span>Your own table (CSV)</span><input type="file" accept=".csv,.txt,.tsv,.data,text/csv,text/plain" aria-label="Upload a table"></label>
    <p class="hint"></p><p class="note" role="alert"></p>`
  el.append(box)
  const [input, hint, note] = ["input", ".hint", ".note"].map((s) => box.querySelector(s))
  let count = 0

  async function take(file) {
    if (!file) { return }
    if (file.size > model.limit) {
      model.send_msg({kind: "refused", name: file.name, size: file.size})
      return
    }
    const bytes = new Uint8Array(await file.arrayBuffer())
    const id = ++count
    const pieces = Math.max(1, Math.ceil(bytes.length / PIECE))
    for (let i = 0; i < pieces; i++) {
      model.send_msg({kind: "piece", id, name: file.name, index: i, pieces, content: to_base64(bytes.subarray(i * PIECE, (i + 1) * PIECE))})
    }
  }
  input.addEventListener("change", () => { take(input.files[0]); input.value = "" })
  box.addEventListener("dragover", (e) => { e.preventDefault(); box.classList.add("over") })
  box.addEventListener("dragleave", () => box.classList.remove("over"))
  box.addEventListener("drop", (e) => {
    e.preventDefault()
    box.classList.remove("over")
    take(e.dataTransfer.files[0])
  })
  const show = () => {
    hint.textContent = `At most ${in_words(model.limit)}; it stays on this machine.`
    if (note.textContent !== model.note) { note.textContent = model.note }
    note.hidden = !model.note
    note.className = model.good ? "note good" : "note"
  }
  for (const name of ["note", "good", "limit"]) { model.on(name, show) }
  show()
}
